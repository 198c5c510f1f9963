package deadmanswitch

import (
	"fmt"
	"time"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/terdut"
	"github.com/ryuvia/provider-terdut/internal/controller/oncall/child"
)

// desired are the parameters that the server is to be told. Without a name it derives one.
func desired(p v1alpha1.DeadmanSwitchParameters) (terdut.DeadmanSwitchParameters, error) {
	d, err := time.ParseDuration(string(p.Timeout))
	if err != nil {
		return terdut.DeadmanSwitchParameters{}, fmt.Errorf("timeout %q is no duration", p.Timeout)
	}
	want := terdut.DeadmanSwitchParameters{Matcher: p.Matcher, Timeout: terdut.Duration(d), Severity: p.Severity}
	if p.Name != nil {
		want.Name = *p.Name
	}
	return want, nil
}

// nameOf is the name that a switch has on the server that was told these parameters.
func nameOf(p terdut.DeadmanSwitchParameters) string {
	if p.Name == "" {
		return terdut.CanonicalMatcher(p.Matcher)
	}
	return p.Name
}

// item by which a switch with these parameters is told from others.
func item(id int64, p terdut.DeadmanSwitchParameters) child.Item {
	return child.Item{
		ID: id, Name: nameOf(p),
		Detail: fmt.Sprintf("%s %s %s", terdut.CanonicalMatcher(p.Matcher), time.Duration(p.Timeout), p.Severity),
	}
}

// told is what of a switch's parameters a server may keep in another form: name, matcher and severity.
func told(p terdut.DeadmanSwitchParameters) []string {
	return []string{nameOf(p), p.Matcher, p.Severity}
}
