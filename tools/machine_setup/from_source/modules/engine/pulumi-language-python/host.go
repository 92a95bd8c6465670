package main

import (
	"context"
	"strings"
	"sync"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/pulumi/pulumi/sdk/v3/go/common/version"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/pulumi/pulumi/sdk/v3/python/toolchain"
)

// host answers the engine. Calls it has no method for (code generation, templates) are answered
// "unimplemented", which the engine understands.
type host struct {
	pulumirpc.UnimplementedLanguageRuntimeServer

	engineAddress string
	scripts       string // the folder of pulumi-language-python-exec

	life        context.Context // done when the host is to end
	programs    context.Context // done when the programs are to end, with the host or before
	endPrograms context.CancelFunc
}

func (h *host) Handshake(
	context.Context, *pulumirpc.LanguageHandshakeRequest,
) (*pulumirpc.LanguageHandshakeResponse, error) {
	return &pulumirpc.LanguageHandshakeResponse{}, nil
}

func (h *host) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: version.Version}, nil
}

// GetRequiredPackages names none. The list only serves to fetch plugins ahead of the run, and
// making it means a Python start that looks through all installed packages. The engine finds each
// plugin when the first of its resources is registered: in `plugins` of Pulumi.yaml, among the
// installed ones, or by downloading it.
func (h *host) GetRequiredPackages(
	context.Context, *pulumirpc.GetRequiredPackagesRequest,
) (*pulumirpc.GetRequiredPackagesResponse, error) {
	return &pulumirpc.GetRequiredPackagesResponse{}, nil
}

// GetRequiredPlugins is what engines asked before there was GetRequiredPackages.
func (h *host) GetRequiredPlugins(
	context.Context, *pulumirpc.GetRequiredPluginsRequest,
) (*pulumirpc.GetRequiredPluginsResponse, error) {
	return &pulumirpc.GetRequiredPluginsResponse{}, nil
}

// About asks the interpreter, in one start and without what is installed. The toolchain's own About
// starts it twice, and pip beside it, at each operation of an engine.
func (h *host) About(
	ctx context.Context, request *pulumirpc.AboutRequest,
) (*pulumirpc.AboutResponse, error) {
	python, err := pythonFor(request.GetInfo())
	if err != nil {
		return nil, err
	}
	command, err := python.command(ctx, "-S", "-c", "import sys; print(sys.executable); print(sys.version)")
	if err != nil {
		return nil, err
	}
	answer, err := command.Output()
	if err != nil {
		return nil, err
	}
	executable, rest, _ := strings.Cut(string(answer), "\n")
	version, err := toolchain.ParsePythonVersion(rest)
	if err != nil {
		return nil, err
	}
	return &pulumirpc.AboutResponse{Executable: executable, Version: version.String()}, nil
}

func (h *host) GetProgramDependencies(
	ctx context.Context, request *pulumirpc.GetProgramDependenciesRequest,
) (*pulumirpc.GetProgramDependenciesResponse, error) {
	python, err := pythonFor(request.GetInfo())
	if err != nil {
		return nil, err
	}
	packages, err := python.ListPackages(ctx, request.GetTransitiveDependencies())
	if err != nil {
		return nil, err
	}
	response := &pulumirpc.GetProgramDependenciesResponse{}
	for _, each := range packages {
		response.Dependencies = append(response.Dependencies, &pulumirpc.DependencyInfo{
			Name:    each.Name,
			Version: each.Version,
		})
	}
	return response, nil
}

func (h *host) InstallDependencies(
	request *pulumirpc.InstallDependenciesRequest,
	stream pulumirpc.LanguageRuntime_InstallDependenciesServer,
) error {
	python, err := pythonFor(request.GetInfo())
	if err != nil {
		return err
	}
	ctx, end := during(stream.Context(), h.programs)
	defer end()
	var one sync.Mutex
	stdout := &sender{&one, func(text []byte) error {
		return stream.Send(&pulumirpc.InstallDependenciesResponse{Stdout: text})
	}}
	stderr := &sender{&one, func(text []byte) error {
		return stream.Send(&pulumirpc.InstallDependenciesResponse{Stderr: text})
	}}
	return python.InstallDependencies(ctx, request.GetInfo().GetProgramDirectory(),
		request.GetUseLanguageVersionTools(), true, stdout, stderr)
}

// Cancel ends the programs and installations: those that run, and those that are yet to be asked
// for, since the engine asks this when its operation is over or given up. Policy packs and plugins are not ended:
// the engine has asked each of them itself before it asks here, and what a provider is doing at
// that moment may still come to a result that belongs into the state.
func (h *host) Cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	h.endPrograms()
	return &emptypb.Empty{}, nil
}

// sender is a writer into a stream of messages. The two writers of one stream share the mutex,
// since a stream takes one message at a time.
type sender struct {
	one  *sync.Mutex
	send func([]byte) error
}

func (s *sender) Write(text []byte) (int, error) {
	s.one.Lock()
	defer s.one.Unlock()
	if err := s.send(text); err != nil {
		return 0, err
	}
	return len(text), nil
}
