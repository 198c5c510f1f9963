package grants

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ryuvia/provider-terdut/cluster/local/process"
)

// standby starts a second provider with the command line and the environment of the first, and returns it with its address of metrics.
func standby(t *testing.T, pid int) (*process.Process, string) {
	t.Helper()
	words := func(file string) []string {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
		if err != nil {
			t.Fatalf("cannot look at the provider's process, which needs Linux: %v", err)
		}
		return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
	}
	env, at := words("environ"), map[string]string{}
	for _, name := range []string{"METRICS_ADDRESS", "HEALTH_ADDRESS"} {
		port, err := process.FreePort()
		if err != nil {
			t.Fatal(err)
		}
		at[name] = fmt.Sprintf("127.0.0.1:%d", port)
		env = append(env, name+"="+at[name]) // Of two entries, the last one counts.
	}
	cmd := words("cmdline")
	s, err := process.Start(process.Spec{
		Name: "second provider", Path: cmd[0], Args: cmd[1:], Env: env, Dir: p.Plane.Dir, LogFile: filepath.Join(p.Plane.Logs, "provider-standby.log"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	return s, at["METRICS_ADDRESS"]
}

// TestLeader runs two providers. One of them works; when that one hangs or dies the other one takes over, and what is found is right each
// time, whoever finds it. Metrics tell which one works.
func TestLeader(t *testing.T) {
	ns := namespace(t)
	reader, c := scraper(t, ns), trusting(t)
	of := fmt.Sprintf(`secret_contract_ready{contract="orders",namespace=%q}`, ns)
	// is waits until a provider leads or stands by, and tells of the contract or does not.
	is := func(address, want string) {
		t.Helper()
		eventually(t, "provider at "+address+" to be "+want, func(ctx context.Context) error {
			code, page, err := get(ctx, c, "https://"+address+"/metrics", reader)
			if err != nil {
				return err
			}
			got := fmt.Sprintf("status %d", code)
			const status = `leader_election_master_status{name="provider-terdut.terdut.ryuvia.com"} `
			switch tells := strings.Contains(page, of); {
			case code != http.StatusOK:
			case strings.Contains(page, status+"1") && tells:
				got = "leader"
			case strings.Contains(page, status+"0") && !tells:
				got = "standby"
			default:
				got = fmt.Sprintf("neither: it tells of the contract: %v", tells)
			}
			if got != want {
				return fmt.Errorf("it is %s", got)
			}
			return nil
		})
	}

	s := secret(t, ns, map[string]string{"password": "x"})
	holds := func(password, want string) {
		t.Helper()
		if password != "" {
			s.StringData = map[string]string{"password": password}
			if err := p.Client.Update(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		verdict(t, ns, want)
	}
	const short, long, tooShort, satisfied = "y", "long enough", "False TooShort", "True RulesSatisfied"
	uid := contract(t, ns, "requiredKeys: [{name: password, minLength: 3}]")
	grant(t, ns, "orders", uid, "required", "nonEmpty", "minLength")
	holds("", tooShort)

	first := provider(t)
	second, address := standby(t, first.PID)
	is(first.MetricsAddress, "leader")
	is(address, "standby")

	// The leader hangs: it is there, and neither works nor renews its lease.
	if err := syscall.Kill(first.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	wake := func() { _ = syscall.Kill(first.PID, syscall.SIGCONT) }
	t.Cleanup(wake)
	holds(long, satisfied)
	is(address, "leader")
	// It goes on, and must find that it leads no more. The package runtime starts it again, as a kubelet would.
	wake()
	eventually(t, "provider that hung to have ended", func(context.Context) error {
		if now := provider(t); now.PID == first.PID {
			return fmt.Errorf("it runs")
		}
		return nil
	})
	is(first.MetricsAddress, "standby")
	holds(short, tooShort)

	// The leader dies, and the Secret changes while nobody works. Nothing starts this one again, so it is the standby that takes over.
	second.Kill()
	holds(long, satisfied)
	is(first.MetricsAddress, "leader")
	holds(short, tooShort)
}
