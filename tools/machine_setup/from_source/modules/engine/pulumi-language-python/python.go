package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/pulumi/pulumi/sdk/v3/python/toolchain"
)

// python is the Python that the `runtime` section of a Pulumi.yaml, PulumiPolicy.yaml or
// PulumiPlugin.yaml asks for. Its virtual environment is relative to the file's own folder.
type python struct {
	toolchain.Toolchain
	options toolchain.PythonOptions
}

func pythonFor(info *pulumirpc.ProgramInfo) (*python, error) {
	options := toolchain.PythonOptions{
		Root:       info.GetRootDirectory(),
		ProgramDir: info.GetProgramDirectory(),
	}
	// Other options are none of a host's business, or of a newer one's: no reason to refuse.
	for name, value := range info.GetOptions().AsMap() {
		text, isText := value.(string)
		known := isText
		switch name {
		case "virtualenv":
			options.Virtualenv = text
		case "toolchain":
			known = known && chooseToolchain(&options, text)
		case "typechecker":
			known = known && chooseTypechecker(&options, text)
		default:
			continue
		}
		if !known {
			return nil, fmt.Errorf("the runtime option %s cannot be %v", name, value)
		}
	}
	chain, err := toolchain.ResolveToolchain(options)
	if err != nil {
		return nil, err
	}
	return &python{Toolchain: chain, options: options}, nil
}

func chooseToolchain(options *toolchain.PythonOptions, name string) bool {
	switch name {
	case "pip":
		options.Toolchain = toolchain.Pip
	case "poetry":
		options.Toolchain = toolchain.Poetry
	case "uv":
		options.Toolchain = toolchain.Uv
	default:
		return false
	}
	return true
}

func chooseTypechecker(options *toolchain.PythonOptions, name string) bool {
	switch name {
	case "mypy":
		options.Typechecker = toolchain.TypeCheckerMypy
	case "pyright":
		options.Typechecker = toolchain.TypeCheckerPyright
	default:
		return false
	}
	return true
}

// command returns `python -u arguments...`, unbuffered so that output is seen as it is written.
func (p *python) command(ctx context.Context, arguments ...string) (*exec.Cmd, error) {
	command, err := p.Command(ctx, append([]string{"-u"}, arguments...)...)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(command.Path); errors.Is(err, fs.ErrNotExist) && p.options.Virtualenv != "" {
		folder, err := p.VirtualEnvPath(ctx)
		if err != nil {
			return nil, err
		}
		return nil, toolchain.NewVirtualEnvError(p.options.Virtualenv, folder)
	}
	return command, nil
}

// checkTypes checks the program's types where the project asks for that, and shows what is wrong.
func (p *python) checkTypes(ctx context.Context) error {
	var checker string
	switch p.options.Typechecker {
	case toolchain.TypeCheckerMypy:
		checker = "mypy"
	case toolchain.TypeCheckerPyright:
		checker = "pyright"
	default:
		return nil
	}
	command, err := p.command(ctx, "-m", checker, p.options.ProgramDir)
	if err != nil {
		return err
	}
	// A checker has its say even when all is well, which is of no interest in each run.
	var said bytes.Buffer
	command.Stdout, command.Stderr = &said, &said
	if err := run(ctx, command); err != nil {
		_, _ = said.WriteTo(os.Stdout)
		return err
	}
	return nil
}

// environment returns the given environment with the virtual environment, if there is one, active.
func (p *python) environment(ctx context.Context, given []string) ([]string, error) {
	folder, err := p.VirtualEnvPath(ctx)
	if err != nil || folder == "" {
		return given, err
	}
	return toolchain.ActivateVirtualEnv(given, folder), nil
}
