package server

import (
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

// Variables of the server's database.
const (
	envDSN         = "TERDUT_DATABASE_DSN"
	envPassword    = "PGPASSWORD"
	envSSLRootCert = "PGSSLROOTCERT"
)

// An environment in the order in which it was set.
type environment []any

// value of a variable. The API server does not store an empty one.
func (e *environment) value(name, value string) {
	v := map[string]any{"name": name}
	if value != "" {
		v["value"] = value
	}
	*e = append(*e, v)
}

func (e *environment) secret(name string, ref *commonv1alpha1.LocalSecretKeySelector) {
	if ref != nil {
		*e = append(*e, map[string]any{"name": name, "valueFrom": map[string]any{"secretKeyRef": map[string]any{"name": ref.Name, "key": ref.Key}}})
	}
}

// optional sets a variable to a value that the spec may leave to the server.
func optional[T ~string](e *environment, name string, value *T) {
	if value != nil {
		e.value(name, string(*value))
	}
}

// env of a replica, as the server's process contract has it. What the spec says in env comes last, and instead of a variable of the same
// name: the API server refuses one that is there twice.
func (s *server) env(c connection) []any {
	e := environment{}
	s.baseEnv(&e)
	e.value(envDSN, c.dsn)
	e.secret(envPassword, c.password)
	if c.caSecret != "" {
		e.value(envSSLRootCert, databaseDir+"/"+keyCA)
	}
	s.alertEnv(&e)
	s.oidcEnv(&e)

	theirs := environment{}
	own := map[string]bool{}
	for _, v := range s.spec.Env {
		own[v.Name] = true
		theirs.custom(v)
	}
	out := environment{}
	for _, v := range e {
		if name, _ := v.(map[string]any)["name"].(string); !own[name] {
			out = append(out, v)
		}
	}
	return append(out, theirs...)
}

func (e *environment) custom(v v1alpha1.ServerEnvVar) {
	switch {
	case v.ValueFrom != nil && v.ValueFrom.SecretKeyRef != nil:
		e.secret(v.Name, v.ValueFrom.SecretKeyRef)
	case v.ValueFrom != nil && v.ValueFrom.ConfigMapKeyRef != nil:
		r := v.ValueFrom.ConfigMapKeyRef
		*e = append(*e, map[string]any{"name": v.Name, "valueFrom": map[string]any{"configMapKeyRef": map[string]any{"name": r.Name, "key": r.Key}}})
	default:
		e.value(v.Name, ptr.Deref(v.Value, ""))
	}
}

// baseEnv is where the server listens, and what it is called from outside.
func (s *server) baseEnv(e *environment) {
	e.value("TERDUT_LISTEN_ADDR", ":"+strconv.Itoa(int(*s.spec.Networking.ServicePort)))
	base := s.endpoint()
	if h := s.spec.Networking.Hostname; h != nil {
		base = "https://" + *h
	}
	e.value("TERDUT_BASE_URL", base)
}

func (s *server) alertEnv(e *environment) {
	if sw := s.spec.Sweeper; sw != nil {
		optional(e, "TERDUT_SWEEPER_STALE_AFTER", sw.StaleAfter)
		optional(e, "TERDUT_SWEEPER_ARCHIVE_AFTER", sw.ArchiveAfter)
	}
	if d := s.spec.Deadman; d != nil {
		optional(e, "TERDUT_DEADMAN_MATCHERS", d.Matchers)
		optional(e, "TERDUT_DEADMAN_TIMEOUT", d.Timeout)
		optional(e, "TERDUT_DEADMAN_SEVERITY", d.Severity)
	}
	if n := s.spec.Notify; n != nil {
		optional(e, "TERDUT_NTFY_URL", n.NtfyURL)
		optional(e, "TERDUT_NTFY_FALLBACK_TOPIC", n.FallbackTopic)
		optional(e, "TERDUT_NTFY_REPEAT_EVERY", n.RepeatEvery)
		e.secret("TERDUT_NTFY_TOKEN", n.TokenSecretRef)
	}
}

func (s *server) oidcEnv(e *environment) {
	if o := s.spec.OIDC; o != nil && o.Enabled {
		optional(e, "TERDUT_OIDC_ISSUER", o.Issuer)
		optional(e, "TERDUT_OIDC_CLIENT_ID", o.ClientID)
		e.secret("TERDUT_OIDC_CLIENT_SECRET", o.ClientSecretRef)
		optional(e, "TERDUT_OIDC_NAME", o.Name)
		optional(e, "TERDUT_OIDC_SCOPES", o.Scopes)
		if len(o.AllowedGroups) > 0 {
			groups := make([]string, 0, len(o.AllowedGroups))
			for _, g := range o.AllowedGroups {
				groups = append(groups, string(g))
			}
			e.value("TERDUT_OIDC_ALLOWED_GROUPS", strings.Join(groups, ","))
		}
		optional(e, "TERDUT_OIDC_ADMIN_GROUP", o.AdminGroup)
		optional(e, "TERDUT_SESSION_MAX_AGE", o.SessionMaxAge)
	}
	e.value("TERDUT_PASSWORD_LOGIN", strconv.FormatBool(*s.spec.PasswordLogin))
}
