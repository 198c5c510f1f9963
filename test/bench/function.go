package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"time"
)

// reported matches a metric of a benchmark in the output of go test.
var reported = regexp.MustCompile(`([0-9.e+]+) (p50|p99)-ns`)

// runFunction measures RunFunction of function-tenant without a control plane, with everything observed.
func (b *bench) runFunction(ctx context.Context, root string) error {
	progressf("Measuring RunFunction.")
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^BenchmarkRunFunction$", "./functions/tenant")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOGC=400") // As the function's main sets it.
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("cannot run the benchmark of function-tenant: %w\n%s", err, out)
	}
	found := map[string]time.Duration{}
	for _, m := range reported.FindAllStringSubmatch(string(out), -1) {
		ns, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return fmt.Errorf("cannot read what the benchmark of function-tenant reported: %w", err)
		}
		found[m[2]] = time.Duration(ns)
	}
	if len(found) != 2 {
		return fmt.Errorf("cannot find what the benchmark of function-tenant reported:\n%s", out)
	}
	b.table.rowf("RunFunction of function-tenant, p50 / p99", "%.2f / %.2f ms",
		float64(found["p50"])/float64(time.Millisecond), float64(found["p99"])/float64(time.Millisecond))
	return nil
}
