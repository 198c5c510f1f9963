// Package main is function-tenant, the composition function that turns a Tenant into a database, a credential and a Secret.
package main

import (
	"time"

	"github.com/crossplane/function-sdk-go/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"

	"github.com/ryuvia/provider-terdut/functions/internal/serve"
)

func main() {
	serve.Main("A composition function that composes Tenants.", func(log logging.Logger) fnv1.FunctionRunnerServiceServer {
		return &Function{log: log, now: time.Now}
	})
}
