package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"time"
)

// reported matches what a benchmark of RunFunction says in the output of go test.
var reported = regexp.MustCompile(`BenchmarkRunFunction/(Alone|Pressed)\S*\s.* ([0-9.e+]+) p50-ns\s+([0-9.e+]+) p99-ns`)

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
	found := map[string][2]float64{}
	for _, m := range reported.FindAllStringSubmatch(string(out), -1) {
		for i := range 2 {
			ns, err := strconv.ParseFloat(m[i+2], 64)
			if err != nil {
				return fmt.Errorf("cannot read what the benchmark of function-tenant reported: %w", err)
			}
			ms := found[m[1]]
			ms[i] = ns / float64(time.Millisecond)
			found[m[1]] = ms
		}
	}
	if len(found) != 2 {
		return fmt.Errorf("cannot find what the benchmark of function-tenant reported:\n%s", out)
	}
	row := func(name, how string) {
		b.table.rowf("RunFunction of function-tenant, "+how+", p50 / p99", "%.2f / %.2f ms", found[name][0], found[name][1])
	}
	row("Alone", "alone")
	row("Pressed", fmt.Sprintf("with GOMAXPROCS=%d and as many other calls all the time", runtime.GOMAXPROCS(0)))
	return nil
}
