package postgresql

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Values of Config.SSLMode, with the meaning that libpq gives them (PostgreSQL documentation, section 34.19).
const (
	SSLDisable    = "disable"
	SSLRequire    = "require"
	SSLVerifyCA   = "verify-ca"
	SSLVerifyFull = "verify-full"
)

const (
	defaultPort           = 5432
	defaultMaxConnections = 8
	defaultDatabase       = "postgres"
	defaultRegistry       = "terdut"
	defaultApplication    = "provider-terdut"

	connectTimeout = 10 * time.Second
	lockTimeout    = 10 * time.Second
)

// Config of an Instance.
type Config struct {
	// Host is the server's DNS name. It is what TLS verifies.
	Host string
	// HostAddr is the IP address to connect to; by default Host is resolved.
	HostAddr string
	// Port, 5432 by default.
	Port int
	// Database to connect to where the registry database is not there yet, postgres by default.
	Database string
	// RegistryDatabase holds the ownership registry, terdut by default. It is created when missing.
	RegistryDatabase string
	// SSLMode is one of disable, require, verify-ca and verify-full, the default. There is no falling back to a weaker one.
	SSLMode string
	// CABundle holds the PEM certificates to trust; by default those of the system.
	CABundle []byte
	// ClientCert and ClientKey are an optional client certificate, PEM.
	ClientCert, ClientKey []byte
	// Username and Password of the management role.
	Username, Password string
	// MaxConnections bounds all connections together, 8 by default.
	MaxConnections int
	// ApplicationName that sessions show, provider-terdut by default.
	ApplicationName string
	// Hook, when set, is called before every statement that writes, and before the commit of one. An error takes the statement's
	// place: tests inject faults here.
	Hook func(ctx context.Context, op Op) error
}

func (c Config) address() string { return net.JoinHostPort(c.Host, strconv.Itoa(c.Port)) }

// complete fills in defaults and refuses what cannot work.
func (c Config) complete() (Config, error) {
	invalid := func(format string, args ...any) (Config, error) {
		return c, &Error{Op: OpConfigure, Message: fmt.Sprintf(format, args...), class: classUnsupported}
	}
	setDefault(&c.Port, defaultPort)
	setDefault(&c.MaxConnections, defaultMaxConnections)
	setDefault(&c.Database, defaultDatabase)
	setDefault(&c.RegistryDatabase, defaultRegistry)
	setDefault(&c.ApplicationName, defaultApplication)
	setDefault(&c.SSLMode, SSLVerifyFull)
	switch {
	case c.Host == "" || strings.ContainsAny(c.Host, "/@[]\x00 "):
		return invalid("host %q is not a host name", c.Host)
	case c.HostAddr != "" && net.ParseIP(c.HostAddr) == nil:
		return invalid("hostaddr %q is not an IP address", c.HostAddr)
	case c.Port < 1 || c.Port > 65535:
		return invalid("port %d is not a port", c.Port)
	case c.MaxConnections < 1:
		return invalid("%d connections are not enough", c.MaxConnections)
	case c.Username == "":
		return invalid("user name is empty")
	}
	for _, db := range []string{c.Database, c.RegistryDatabase} {
		if err := ValidateName("database", db); err != nil {
			return c, err
		}
		if db == "template0" || db == "template1" {
			return invalid("sessions in %s keep others from creating databases", db)
		}
	}
	return c, nil
}

func setDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// tlsConfig returns nil when TLS is off.
func (c Config) tlsConfig() (*tls.Config, error) {
	invalid := func(m string) (*tls.Config, error) {
		return nil, &Error{Op: OpConfigure, Message: m, class: classUntrusted}
	}
	t := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.Host}
	if len(c.CABundle) > 0 {
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(c.CABundle) {
			return invalid("the CA bundle holds no PEM certificate")
		}
	}
	if len(c.ClientCert) > 0 || len(c.ClientKey) > 0 {
		pair, err := tls.X509KeyPair(c.ClientCert, c.ClientKey)
		if err != nil {
			// The error is about a private key: it is not repeated.
			return invalid("client certificate and key are not a PEM pair")
		}
		t.Certificates = []tls.Certificate{pair}
	}
	switch c.SSLMode {
	case SSLDisable:
		return nil, nil
	case SSLVerifyFull:
	case SSLVerifyCA:
		verifyChainOnly(t)
	case SSLRequire:
		t.InsecureSkipVerify = true // What the mode means: encrypted, not authenticated.
		if t.RootCAs != nil {
			verifyChainOnly(t) // As libpq does when there is a CA.
		}
	default:
		return invalid(fmt.Sprintf("SSL mode %q is not supported", c.SSLMode))
	}
	return t, nil
}

// verifyChainOnly replaces the standard verification, which would insist on the host name, by one of the chain alone.
func verifyChainOnly(t *tls.Config) {
	t.InsecureSkipVerify = true // VerifyConnection takes its place.
	roots := t.RootCAs
	t.VerifyConnection = func(cs tls.ConnectionState) error {
		o := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
		for _, cert := range cs.PeerCertificates[1:] {
			o.Intermediates.AddCert(cert)
		}
		_, err := cs.PeerCertificates[0].Verify(o)
		return err
	}
}

// connConfig for a session. It is built field by field, so that no value needs escaping and no PG* variable of our environment matters.
func (i *Instance) connConfig(user, password, database string) (*pgx.ConnConfig, error) {
	cc, err := pgx.ParseConfig("host=localhost port=5432 user=nobody password=none dbname=postgres sslmode=disable sslnegotiation=postgres target_session_attrs=any")
	if err != nil {
		return nil, &Error{Op: OpConfigure, Message: "PG* variables in the environment are malformed", class: classUnsupported}
	}
	cc.Host, cc.Port = i.cfg.Host, uint16(i.cfg.Port)
	cc.User, cc.Password, cc.Database = user, prepare(password), database
	cc.TLSConfig, cc.Fallbacks, cc.ValidateConnect = nil, nil, nil
	cc.ConnectTimeout = connectTimeout
	cc.RequireAuth = "scram-sha-256"
	if i.tls != nil {
		cc.TLSConfig = i.tls.Clone()
		if len(i.tls.Certificates) > 0 {
			cc.RequireAuth += ",none" // The server may be satisfied with the certificate.
		}
	}
	cc.RuntimeParams = map[string]string{
		"application_name": i.cfg.ApplicationName,
		"client_encoding":  "UTF8",
		// Whoever owns a database can put functions in its schemas and set defaults for it. Neither takes part in our sessions, but for
		// default_transaction_read_only: a server that is full says so with it.
		"search_path":                         "pg_catalog",
		"role":                                "none",
		"statement_timeout":                   "0",
		"idle_session_timeout":                "0",
		"idle_in_transaction_session_timeout": "0",
		"default_transaction_isolation":       "read committed",
		"local_preload_libraries":             "",
		"lock_timeout":                        strconv.FormatInt(lockTimeout.Milliseconds(), 10),
	}
	if i.cfg.HostAddr != "" {
		cc.LookupFunc = func(context.Context, string) ([]string, error) { return []string{i.cfg.HostAddr}, nil }
	}
	return cc, nil
}
