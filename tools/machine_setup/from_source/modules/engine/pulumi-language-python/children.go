package main

import (
	"context"
	"os/exec"
	"syscall"
	"time"
)

// How long a child may take to end after it was asked to. The engine gives this host five seconds
// before it kills it, and a killed host could end nobody.
const grace = 2 * time.Second

// during returns a context that is done when the call is, and when the other one is.
func during(call, other context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(call)
	forget := context.AfterFunc(other, cancel)
	return ctx, func() {
		forget()
		cancel()
	}
}

// run runs a command to its end, or, when the context it was made with is done, ends it with all
// that it started.
//
// The command gets a process group of its own, out of reach of the SIGINT with which the engine
// ends this host: Python answers SIGINT with a traceback, and SIGTERM with silence.
func run(ctx context.Context, command *exec.Cmd) error {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGTERM) }
	command.WaitDelay = grace
	err := command.Run()
	if ctx.Err() != nil && command.Process != nil {
		// Whoever of the group did not heed the SIGTERM. Mostly nobody, which is no error.
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
	}
	return err
}
