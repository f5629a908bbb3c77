package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// signalError is the cause of a context that a signal cancelled.
type signalError struct{ syscall.Signal }

func (e signalError) Error() string { return fmt.Sprintf("stopped by signal: %v", e.Signal) }

// withSignals cancels the context on the first interrupt or termination. The
// second one ends the process at once, in case the first one cannot get
// through.
func withSignals(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals)
			cancel(signalError{s.(syscall.Signal)})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(context.Canceled)
	}
}
