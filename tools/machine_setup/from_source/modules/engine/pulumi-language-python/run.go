package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// The script exits with this code when it has already shown the user what went wrong.
const exitShown = 32

// Run runs a program.
func (h *host) Run(
	call context.Context, request *pulumirpc.RunRequest,
) (*pulumirpc.RunResponse, error) {
	python, err := pythonFor(request.GetInfo())
	if err != nil {
		return nil, err
	}
	ctx, end := during(call, h.programs)
	defer end()

	if err := python.checkTypes(ctx); err != nil {
		return failure(ctx, "the type check", err), nil
	}

	command, err := python.command(ctx, h.programArguments(request)...)
	if err != nil {
		return nil, err
	}
	config, err := configEnvironment(request)
	if err != nil {
		return nil, err
	}
	command.Env = append(command.Environ(), config...)
	// The engine shows the user what this host writes.
	command.Stdout = os.Stdout
	command.Stderr = os.Stderr
	if err := run(ctx, command); err != nil {
		return failure(ctx, "the program", err), nil
	}
	return &pulumirpc.RunResponse{}, nil
}

// failure tells the engine that a run failed, and whether the user has yet to be told why.
func failure(ctx context.Context, what string, err error) *pulumirpc.RunResponse {
	var exit *exec.ExitError
	wasShown := errors.As(err, &exit) && exit.ExitCode() == exitShown
	// The reason for a cancelled run is known to whoever cancelled it.
	if wasShown || ctx.Err() != nil {
		return &pulumirpc.RunResponse{Bail: true}
	}
	return &pulumirpc.RunResponse{Error: fmt.Sprintf("%s failed: %v", what, err)}
}

// programArguments returns the script that runs a program inside of Python, and what it is told.
func (h *host) programArguments(request *pulumirpc.RunRequest) []string {
	info := request.GetInfo()
	arguments := []string{
		filepath.Join(h.scripts, "pulumi-language-python-exec"),
		"--engine", h.engineAddress,
		"--monitor", request.GetMonitorAddress(),
		"--project", request.GetProject(),
		"--stack", request.GetStack(),
		"--organization", request.GetOrganization(),
		"--root_directory", info.GetRootDirectory(),
		"--pwd", request.GetPwd(),
		"--parallel", strconv.Itoa(int(request.GetParallel())),
		"--dry_run", strconv.FormatBool(request.GetDryRun()),
		filepath.Join(info.GetProgramDirectory(), info.GetEntryPoint()),
	}
	return append(arguments, request.GetArgs()...)
}

// configEnvironment returns the variables in which the Python SDK looks for the configuration.
func configEnvironment(request *pulumirpc.RunRequest) ([]string, error) {
	// What is empty does not reach us as empty, but as nothing, which JSON would call null; the
	// SDK expects an object and a list.
	config := map[string]string{}
	maps.Copy(config, request.GetConfig())
	values, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	keys, err := json.Marshal(append([]string{}, request.GetConfigSecretKeys()...))
	if err != nil {
		return nil, err
	}
	return []string{
		"PULUMI_CONFIG=" + string(values),
		"PULUMI_CONFIG_SECRET_KEYS=" + string(keys),
	}, nil
}

// RunPlugin runs a policy pack or another plugin that is given as a folder of Python.
func (h *host) RunPlugin(
	request *pulumirpc.RunPluginRequest, stream pulumirpc.LanguageRuntime_RunPluginServer,
) error {
	python, err := pythonFor(request.GetInfo())
	if err != nil {
		return err
	}
	ctx, end := during(stream.Context(), h.life)
	defer end()

	folder := request.GetInfo().GetProgramDirectory()
	var arguments []string
	if request.GetKind() == "analyzer" {
		arguments = append([]string{"-m", "pulumi.policy"}, append(request.GetArgs(), folder)...)
	} else {
		arguments = append([]string{folder}, request.GetArgs()...)
	}
	command, err := python.command(ctx, arguments...)
	if err != nil {
		return err
	}
	command.Dir = request.GetPwd()
	command.Env, err = python.environment(ctx, request.GetEnv())
	if err != nil {
		return err
	}

	var one sync.Mutex
	command.Stdout = &sender{&one, func(text []byte) error {
		return stream.Send(&pulumirpc.RunPluginResponse{
			Output: &pulumirpc.RunPluginResponse_Stdout{Stdout: text},
		})
	}}
	command.Stderr = &sender{&one, func(text []byte) error {
		return stream.Send(&pulumirpc.RunPluginResponse{
			Output: &pulumirpc.RunPluginResponse_Stderr{Stderr: text},
		})
	}}
	code := 0
	if err := run(ctx, command); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			return fmt.Errorf("running the plugin in %s: %w", folder, err)
		}
		code = exit.ExitCode()
	}
	return stream.Send(&pulumirpc.RunPluginResponse{
		Output: &pulumirpc.RunPluginResponse_Exitcode{Exitcode: int32(code)},
	})
}
