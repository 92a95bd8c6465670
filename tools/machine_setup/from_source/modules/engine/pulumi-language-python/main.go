// Command pulumi-language-python is the language host through which the Pulumi engine runs
// Python programs, policy packs and plugins.
//
// The engine starts it with its own address as the last argument, reads the port from the first
// line of stdout, and speaks the LanguageRuntime protocol to it from then on.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"google.golang.org/grpc"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/logging"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// An engine that was killed says no goodbye. The host asks after it this often, so that it does
// not outlive it by much; its children end at once, with the call that started them.
const engineCheckInterval = 10 * time.Second

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "pulumi-language-python:", err)
		os.Exit(1)
	}
}

func serve() error {
	// The engine may pass -tracing, -v and -logtostderr; the logging library declares the last two.
	flag.String("tracing", "", "accepted, but this host keeps no traces")
	// Hosts of other languages start this one, for a package in Python, as engines did before.
	for _, option := range []string{"root", "virtualenv", "toolchain", "typechecker"} {
		flag.String(option, "", "accepted: each request of today has it")
	}
	flag.Parse()
	logging.InitLogging(false, 0, false)
	if flag.NArg() == 0 {
		return fmt.Errorf("the address of the engine is missing; this program is started by pulumi")
	}
	engineAddress := flag.Arg(flag.NArg() - 1)

	self, err := os.Executable()
	if err != nil {
		return err
	}

	// The engine ends its plugins with SIGINT. A terminal's Ctrl-C does not come this way: the
	// engine starts us in a process group of our own.
	life, end := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer end()
	if err := rpcutil.Healthcheck(life, engineAddress, engineCheckInterval, end); err != nil {
		return fmt.Errorf("watching the engine at %s: %w", engineAddress, err)
	}

	programs, endPrograms := context.WithCancel(life)
	defer endPrograms()

	stop := make(chan bool)
	context.AfterFunc(life, func() { close(stop) })
	handle, err := rpcutil.ServeWithOptions(rpcutil.ServeOptions{
		Cancel: stop,
		Init: func(server *grpc.Server) error {
			pulumirpc.RegisterLanguageRuntimeServer(server, &host{
				engineAddress: engineAddress,
				scripts:       filepath.Dir(self),
				life:          life,
				programs:      programs,
				endPrograms:   endPrograms,
			})
			return nil
		},
	})
	if err != nil {
		return err
	}
	fmt.Println(handle.Port)
	return <-handle.Done
}
