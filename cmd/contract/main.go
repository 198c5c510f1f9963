// Command contract checks a SecretContract against a Secret without a cluster, for CI: before the two meet.
package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/alecthomas/kong"
)

// Exit codes of check.
const (
	exitValid    = 0
	exitViolated = 1
	exitInvalid  = 2 // The contract, or the input, makes no sense.
)

type cli struct {
	Check checkCmd `cmd:"" help:"Check a SecretContract against a Secret. Exit codes: 0 valid, 1 violated, 2 the contract or the input makes no sense. No value of the Secret is ever printed."`
}

type checkCmd struct {
	File []string `short:"f" required:"" help:"YAML file with a SecretContract or a Secret, or both; - is the standard input. Give it again for another file."`
	At   string   `help:"Time of RFC 3339 to check certificates and age at. Default: now."`
}

func main() {
	c := cli{}
	kong.Parse(&c, kong.Name("contract"), kong.Description("Checks SecretContracts without a cluster."), kong.UsageOnError(), kong.Exit(func(code int) {
		if code != 0 {
			code = exitInvalid
		}
		os.Exit(code)
	}))
	os.Exit(c.Check.run(os.Stdin, os.Stdout, os.Stderr, time.Now()))
}

func (c *checkCmd) run(in io.Reader, out, errs io.Writer, now time.Time) int {
	if c.At != "" {
		t, err := time.Parse(time.RFC3339, c.At)
		if err != nil {
			_, _ = fmt.Fprintln(errs, "contract: --at is no time of RFC 3339")
			return exitInvalid
		}
		now = t
	}
	contracts, secrets, err := load(in, c.File)
	if err != nil {
		_, _ = fmt.Fprintln(errs, "contract:", err)
		return exitInvalid
	}
	code := exitValid
	for i := range contracts {
		code = max(code, judge(out, &contracts[i], secrets, now))
	}
	return code
}
