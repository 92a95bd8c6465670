package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/blang/semver"
	codegen "github.com/pulumi/pulumi/pkg/v3/codegen/python"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// GeneratePackage writes the SDK of a package, with Pulumi's own generator.
func (h *host) GeneratePackage(
	_ context.Context, request *pulumirpc.GeneratePackageRequest,
) (*pulumirpc.GeneratePackageResponse, error) {
	loader, err := schema.NewLoaderClient(request.GetLoaderTarget())
	if err != nil {
		return nil, err
	}
	defer loader.Close()
	var spec schema.PackageSpec
	if err := json.Unmarshal([]byte(request.GetSchema()), &spec); err != nil {
		return nil, err
	}
	bound, diagnostics, err := schema.BindSpec(
		spec, loader, schema.ValidationOptions{AllowDanglingReferences: true})
	if err != nil {
		return nil, err
	}
	response := &pulumirpc.GeneratePackageResponse{
		Diagnostics: plugin.HclDiagnosticsToRPCDiagnostics(diagnostics),
	}
	if diagnostics.HasErrors() {
		return response, nil
	}
	files, err := codegen.GeneratePackage(
		"pulumi-language-python", bound, request.GetExtraFiles(), loader)
	if err != nil {
		return nil, err
	}
	for name, content := range files {
		file := filepath.Join(request.GetDirectory(), filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(file, content, 0o600); err != nil {
			return nil, err
		}
	}
	return response, nil
}

// Link adds SDKs in the project's folder to what the project installs, and says how to import them.
func (h *host) Link(
	ctx context.Context, request *pulumirpc.LinkRequest,
) (*pulumirpc.LinkResponse, error) {
	python, err := pythonFor(request.GetInfo())
	if err != nil {
		return nil, err
	}
	loader, err := schema.NewLoaderClient(request.GetLoaderTarget())
	if err != nil {
		return nil, err
	}
	defer loader.Close()
	folders := map[string]string{}
	said := []string{"You can import the SDK in your program with:\n"}
	for _, each := range request.GetPackages() {
		name, err := packageName(ctx, loader, each.GetPackage())
		if err != nil {
			return nil, err
		}
		folders[name] = "." + string(filepath.Separator) + each.GetPath()
		said = append(said, fmt.Sprintf("  import %s", name))
	}
	if err := python.LinkPackages(ctx, folders); err != nil {
		return nil, err
	}
	return &pulumirpc.LinkResponse{ImportInstructions: strings.Join(said, "\n") + "\n"}, nil
}

// packageName is the name of the Python package that is made of a package of Pulumi.
func packageName(
	ctx context.Context, loader schema.ReferenceLoader, dependency *pulumirpc.PackageDependency,
) (string, error) {
	wanted := &schema.PackageDescriptor{
		Name: dependency.GetName(), DownloadURL: dependency.GetServer(),
	}
	if text := dependency.GetVersion(); text != "" {
		version, err := semver.ParseTolerant(text)
		if err != nil {
			return "", err
		}
		wanted.Version = &version
	}
	reference, err := loader.LoadPackageReferenceV2(ctx, wanted)
	if err != nil {
		return "", err
	}
	return codegen.PyPack(reference.Namespace(), reference.Name()), nil
}
