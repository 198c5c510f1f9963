// Package main is function-terdutserver, the composition function that turns a TerdutServer into an on-call server with its teams.
package main

import (
	"time"

	"github.com/crossplane/function-sdk-go/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"

	"github.com/ryuvia/provider-terdut/functions/internal/serve"
)

func main() {
	serve.Main("A composition function that composes TerdutServers.", func(log logging.Logger) fnv1.FunctionRunnerServiceServer {
		return &Function{log: log, now: time.Now}
	})
}
