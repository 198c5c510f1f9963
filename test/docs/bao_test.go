package docs

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/openbao/openbao/api/v2"
)

// baoMain does what OpenBao's command line does, as far as the pages use it. BAO_ADDR and BAO_TOKEN say where and as whom. What it is asked
// is a real server's to accept or refuse.
func baoMain(args []string) int {
	if err := bao(args); err != nil {
		fmt.Fprintln(os.Stderr, "bao:", err)
		return 2
	}
	return 0
}

func bao(args []string) error {
	c, err := api.NewClient(api.DefaultConfig())
	if err != nil {
		return fmt.Errorf("cannot create client: %w", err)
	}
	flags, words := map[string]string{}, []string{}
	for _, a := range args {
		if strings.HasPrefix(a, "-") && a != "-" {
			name, value, _ := strings.Cut(strings.TrimLeft(a, "-"), "=")
			flags[name] = value
			continue
		}
		words = append(words, a)
	}
	is := func(n int, command ...string) bool {
		return len(words) >= n && strings.Join(words[:len(command)], " ") == strings.Join(command, " ")
	}
	switch {
	case is(3, "secrets", "enable"):
		in := &api.MountInput{Type: words[2]}
		if v := flags["version"]; v != "" {
			in.Options = map[string]string{"version": v}
		}
		return c.Sys().Mount(flags["path"], in)
	case is(3, "auth", "enable"):
		return c.Sys().EnableAuthWithOptions(words[2], &api.EnableAuthOptions{Type: words[2]})
	case is(4, "policy", "write"):
		rules, err := policyOf(words[3])
		if err != nil {
			return err
		}
		return c.Sys().PutPolicy(words[2], rules)
	case is(2, "write"):
		return write(c, words[1], words[2:], flags["field"])
	}
	return fmt.Errorf("the stand-in of the test does not know %q", args)
}

// policyOf a file, or of the standard input.
func policyOf(file string) (string, error) {
	if file == "-" {
		b, err := io.ReadAll(os.Stdin)
		return string(b), err
	}
	b, err := os.ReadFile(file)
	return string(b), err
}

// write key=value pairs to a path, and print one field of the answer.
func write(c *api.Client, path string, pairs []string, field string) error {
	data := map[string]any{}
	for _, p := range pairs {
		k, v, ok := strings.Cut(p, "=")
		if !ok {
			return fmt.Errorf("%q is no pair of key and value", p)
		}
		data[k] = v
	}
	answer, err := c.Logical().Write(path, data)
	if err != nil {
		return err
	}
	if field == "" {
		return nil
	}
	if answer == nil || answer.Data[field] == nil {
		return fmt.Errorf("the answer has no field %q", field)
	}
	fmt.Print(answer.Data[field])
	return nil
}
