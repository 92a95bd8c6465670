// Command generator makes the Go SDK of a package from its schema, as `pulumi package add` does.
//
// Pulumi's own command needs the language host of Go, which is in no module; the generator is.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	gogen "github.com/pulumi/pulumi/pkg/v3/codegen/go"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: generator SCHEMA FOLDER")
		os.Exit(2)
	}
	if err := generate(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "generator:", err)
		os.Exit(1)
	}
}

func generate(file, folder string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var spec schema.PackageSpec
	if err := json.Unmarshal(text, &spec); err != nil {
		return err
	}
	// The schema has no types of other packages.
	pkg, found, err := schema.BindSpec(spec, schema.NewNullLoader(), schema.ValidationOptions{})
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return errors.New(found.Error())
	}
	// As `pulumi package add` has it.
	pkg.SupportPack = true
	files, err := gogen.GeneratePackage("pulumi", pkg, nil)
	if err != nil {
		return err
	}
	for name, content := range files {
		place := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(place, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
