package server

import (
	"fmt"
	"net"
	"net/url"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/functions/internal/composite"
)

// A connection is what a replica is told of its database.
type connection struct {
	dsn      string
	password *commonv1alpha1.LocalSecretKeySelector
	// caSecret names the Secret that holds the certificates to verify the database with, at keyCA. Empty: the system's are used.
	caSecret string
}

// keyCA of a Tenant's Secret.
const keyCA = "ca.crt"

// A database is what is known of the database that the spec names.
type database struct {
	// ready is true when the server may be started on it, with connection.
	ready      bool
	connection connection
	condition  composite.Condition
	// tenant is the Tenant that the spec names once it is Ready, so that its database may be looked at.
	tenant *tenant
}

// dsn of a database, without a password.
func dsn(user, host string, port int32, database, sslMode string) string {
	u := url.URL{
		Scheme: "postgres", User: url.User(user), Host: net.JoinHostPort(host, strconv.Itoa(int(port))), Path: "/" + database,
		RawQuery: url.Values{"sslmode": {sslMode}}.Encode(),
	}
	return u.String()
}

// resolveDatabase finds out what the spec's database is, and whether it is ready.
func (s *server) resolveDatabase() error {
	d := s.spec.Database
	switch {
	case d.TenantRef != nil:
		return s.resolveTenant(d.TenantRef.Name)
	case d.PostgresClusterRef != nil:
		return s.resolveCluster(*d.PostgresClusterRef)
	}
	s.database = databaseReady(connection{dsn: *d.DSN, password: d.PasswordSecretRef})
	return nil
}

func databaseReady(c connection) database {
	return database{ready: true, connection: c, condition: composite.Available(v1alpha1.TypeDatabaseReady)}
}

func databaseWaits(format string, args ...any) database {
	return database{condition: composite.Waiting(v1alpha1.TypeDatabaseReady, format, args...)}
}

func databaseMissing(reason, format string, args ...any) database {
	return database{condition: composite.Condition{
		Type: v1alpha1.TypeDatabaseReady, Status: corev1.ConditionFalse, Reason: reason, Message: fmt.Sprintf(format, args...),
	}}
}

// current is the connection to give to replicas: that of the spec, or while its database is not ready the one that they have.
func (s *server) current() connection {
	if s.database.ready || s.observed[resourceDeployment] == nil {
		return s.database.connection
	}
	return connectionOf(s.observed[resourceDeployment].manifest)
}
