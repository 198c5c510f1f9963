package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	oncallv1alpha1 "github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// A tally counts calls that are about managed resources of a kind, and those of them that write.
type tally struct{ calls, writes int }

// calls that the servers got since they were told to forget them. Looks at a server's health are left out: the kubelet's are among them.
func (b *bench) calls(ctx context.Context) (map[schema.GroupVersionKind]tally, error) {
	out := map[schema.GroupVersionKind]tally{}
	err := b.eachServer(ctx, func(control string) error {
		var st terdutserver.State
		var requests []terdutserver.Request
		if err := ask(ctx, http.MethodGet, control+"/state", &st); err != nil {
			return err
		}
		if err := ask(ctx, http.MethodGet, control+"/requests", &requests); err != nil {
			return err
		}
		teams := map[int64]bool{}
		for _, a := range st.ServiceAccounts {
			teams[a.ID] = a.Scope == terdutserver.ScopeTeam
		}
		for _, r := range requests {
			if !strings.HasPrefix(r.Route, "/api/") {
				continue
			}
			gvk := kindOf(r, teams)
			t := out[gvk]
			t.calls++
			if r.IsWrite() {
				t.writes++
			}
			out[gvk] = t
		}
		return nil
	})
	return out, err
}

// byKind is something of each kind, in words.
func byKind(what func(schema.GroupVersionKind) string) string {
	var out []string
	for _, gvk := range oncallKinds {
		out = append(out, gvk.Kind+" "+what(gvk))
	}
	return strings.Join(out, ", ")
}

// kindOf what a request is about. A config asks for a team now and then that is not there, which is counted as the Teams'.
func kindOf(r terdutserver.Request, teams map[int64]bool) schema.GroupVersionKind {
	switch {
	case strings.HasSuffix(r.Route, "/escalation"), r.Route == "/api/users":
		return oncallv1alpha1.EscalationPolicyGroupVersionKind
	case strings.Contains(r.Route, "/deadman/"):
		return oncallv1alpha1.DeadmanSwitchGroupVersionKind
	case strings.Contains(r.Route, "/integrations"):
		return oncallv1alpha1.IntegrationGroupVersionKind
	case r.Route == "/api/bootstrap", strings.HasPrefix(r.Credential, "user/"), r.Account != 0 && !teams[r.Account]:
		return oncallv1alpha1.BootstrapGroupVersionKind
	}
	return oncallv1alpha1.TeamGroupVersionKind
}

func (b *bench) forgetCalls(ctx context.Context) error {
	return b.eachServer(ctx, func(control string) error { return ask(ctx, http.MethodDelete, control+"/requests", nil) })
}

// eachServer does something with the control handler of each server.
func (b *bench) eachServer(ctx context.Context, do func(control string) error) error {
	for i := range b.Servers {
		is, err := b.p.Servers.Instances(ctx, types.NamespacedName{Namespace: namespaceServers, Name: serverName(i)})
		if err != nil {
			return err
		}
		if len(is) != 1 {
			return fmt.Errorf("server %q has %d replicas that are ready", serverName(i), len(is))
		}
		if err := do(is[0].Control); err != nil {
			return fmt.Errorf("cannot look at server %q: %w", serverName(i), err)
		}
	}
	return nil
}

// ask the control handler of a server. The answer is decoded into what is not nil.
func ask(ctx context.Context, method, address string, answer any) error {
	req, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return err
	}
	rsp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer rsp.Body.Close() // It is only read.
	if rsp.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("it answers %s", rsp.Status)
	}
	if answer == nil {
		return nil
	}
	return json.NewDecoder(rsp.Body).Decode(answer)
}
