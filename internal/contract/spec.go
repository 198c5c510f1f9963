package contract

import (
	"slices"
	"strings"
	"time"
)

// Limits of a contract.
const (
	// MaxWorkloads is how many workloads a contract may name.
	MaxWorkloads = 32

	// MaxContainers is how many containers of one workload are looked at.
	MaxContainers = 16
)

// A Consumption is how containers must take a Secret into their environment.
type Consumption string

// Ways of consumption. The empty one is ConsumptionAny.
const (
	ConsumptionAny     Consumption = "Any"
	ConsumptionEnvFrom Consumption = "EnvFrom"
	ConsumptionEnvVars Consumption = "EnvVars"
)

// A Workload names an object with a pod template, in the contract's namespace.
type Workload struct {
	APIVersion, Kind, Name string

	// Containers that must all consume the Secret. Empty means all regular ones.
	Containers []string

	IncludeInitContainers bool
	Consumption           Consumption
}

// Kinds of workloads, by API version.
var workloadKinds = map[string][]string{
	"apps/v1":  {"Deployment", "StatefulSet", "DaemonSet"},
	"batch/v1": {"Job", "CronJob"},
}

// A Spec is what a contract asks for besides the rules of its keys.
type Spec struct {
	// Secret is the name of the Secret.
	Secret string

	Rules []Rule

	// ExternalSecret is the name of the ExternalSecret that must deliver the Secret, empty when there is none.
	ExternalSecret string

	// ExternalSecretAPIVersion is one of SupportedExternalSecretVersions.
	ExternalSecretAPIVersion string

	// SupportedExternalSecretVersions is what the installation allows, such as external-secrets.io/v1.
	SupportedExternalSecretVersions []string

	Workloads []Workload

	// InjectionMode is empty or Disabled. Others are not built.
	InjectionMode string

	// RestartOnChange is false. It is not built.
	RestartOnChange bool

	// MaxAge since the time that the annotation tells, unset when there is no limit. It is positive.
	MaxAge *time.Duration

	// RotatedAtAnnotation is the annotation's key; empty means the project's own.
	RotatedAtAnnotation string

	Policy Policy
}

// A Policy says which optional findings the contract as a whole depends on.
type Policy struct {
	RequireExternalSecretReady bool
	RequireWorkloadReference   bool
	RequireRotationPolicy      bool
}

// Check says whether the contract makes sense, rules and all, without any data. The result is valid exactly if it does. A feature that
// is not built is answered with ReasonFeatureNotEnabled.
func (s Spec) Check() Result {
	_, f := compile(s.Rules)
	if !validName(s.Secret) {
		f.spec("", RuleSecretRef, ReasonInvalidSpec)
	}
	if s.ExternalSecret != "" && (!validName(s.ExternalSecret) || !slices.Contains(s.SupportedExternalSecretVersions, s.ExternalSecretAPIVersion)) {
		f.spec("", RuleExternalSecretRef, ReasonInvalidSpec)
	}
	if !validWorkloads(s.Workloads) {
		f.spec("", RuleWorkloadRefs, ReasonInvalidSpec)
	}
	if s.InjectionMode != "" && s.InjectionMode != "Disabled" {
		f.spec("", RuleInjection, ReasonFeatureNotEnabled)
	}
	if s.RestartOnChange {
		f.spec("", RuleRestartOnChange, ReasonFeatureNotEnabled)
	}
	if s.MaxAge != nil && *s.MaxAge <= 0 {
		f.spec("", RuleMaxAge, ReasonInvalidSpec)
	}
	if s.RotatedAtAnnotation != "" && !validAnnotation(s.RotatedAtAnnotation) {
		f.spec("", RuleRotatedAtAnnotation, ReasonInvalidSpec)
	}
	// What is required must be configured: there is nothing else that could satisfy it.
	if s.Policy.RequireExternalSecretReady && s.ExternalSecret == "" ||
		s.Policy.RequireWorkloadReference && len(s.Workloads) == 0 ||
		s.Policy.RequireRotationPolicy && s.MaxAge == nil {
		f.spec("", RulePolicy, ReasonInvalidSpec)
	}
	return f.result()
}

func validWorkloads(workloads []Workload) bool {
	if len(workloads) > MaxWorkloads {
		return false
	}
	seen := map[[3]string]bool{}
	for _, w := range workloads {
		id := [3]string{w.APIVersion, w.Kind, w.Name}
		if seen[id] || !slices.Contains(workloadKinds[w.APIVersion], w.Kind) || !validName(w.Name) || len(w.Containers) > MaxContainers {
			return false
		}
		seen[id] = true

		switch w.Consumption {
		case "", ConsumptionAny, ConsumptionEnvFrom, ConsumptionEnvVars:
		default:
			return false
		}
		containers := map[string]bool{}
		for _, c := range w.Containers {
			if c == "" || containers[c] {
				return false
			}
			containers[c] = true
		}
	}
	return true
}

// validName says whether the name is one of an object: a DNS subdomain.
func validName(name string) bool {
	if name == "" || len(name) > maxKeyLength {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range []byte(label) {
			if !digit(c) && (c < 'a' || c > 'z') && c != '-' {
				return false
			}
		}
	}
	return true
}

// validAnnotation says whether the text is a key of an annotation: a name of at most 63 characters, after a DNS subdomain and a slash if
// there is one.
func validAnnotation(key string) bool {
	prefix, name, found := strings.Cut(key, "/")
	if !found {
		name = prefix
	} else if !validName(prefix) {
		return false
	}
	if name == "" || len(name) > 63 {
		return false
	}
	for i, c := range []byte(name) {
		if letter(c) || digit(c) {
			continue
		}
		if i == 0 || i == len(name)-1 || c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}
