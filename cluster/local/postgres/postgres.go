// Package postgres runs a real PostgreSQL server on the loopback interface, for the local control plane and for tests.
//
// The server is made to be thrown away: it does not sync to disk. Everything that matters to a client is as in production, though:
// scram-sha-256 is the only way to log in, and with TLS on, its certificate comes from a CA of its own and carries the name that
// clients connect to, so that sslmode verify-full is what is exercised.
package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ryuvia/provider-terdut/cluster/local/process"
)

const (
	// Host is the name that clients connect to. The server's certificate carries it.
	Host = "localhost"
	// HostAddr is the only address that the server listens on.
	HostAddr = "127.0.0.1"
	// Superuser is the name of the bootstrap superuser.
	Superuser = "postgres"

	// BinDirEnv is the environment variable that names a folder with the server's binaries, to run tests against another version.
	BinDirEnv = "TERDUT_POSTGRES_BINDIR"

	startTimeout = 60 * time.Second
	stopTimeout  = 20 * time.Second
)

// Options of a server.
type Options struct {
	// Dir holds data, certificates, the superuser's password and the log. A folder that an earlier server left behind is continued.
	Dir string
	// Port to listen on. Default: a free one.
	Port int
	// TLS turns TLS on.
	TLS bool
	// CertificateHosts are the DNS names and IP addresses in the server's certificate. Default: Host and HostAddr.
	CertificateHosts []string
	// Conf holds further configuration parameters, for example log_statement.
	Conf map[string]string
	// Major version to run, see Binaries. Default: any.
	Major int
}

// A Server is a running PostgreSQL server.
type Server struct {
	// Options that the server was started with. Conf may be changed before Restart.
	Options Options
	// Host and HostAddr to connect to.
	Host, HostAddr string
	// Port the server listens on.
	Port int
	// Superuser and its Password.
	Superuser, Password string
	// CABundle is the PEM certificate of the CA that signed the server's certificate; empty without TLS.
	CABundle []byte
	// LogFile of the server.
	LogFile string

	bin  string
	user *account
	proc *process.Process
}

// Start a server and wait until it accepts connections. It is stopped with Stop, and dies with this process.
func Start(ctx context.Context, o Options) (*Server, error) {
	bin, err := Binaries(ctx, o.Major)
	if err != nil {
		return nil, err
	}
	if !complete(bin) {
		return nil, fmt.Errorf("cannot find initdb and postgres in %q", bin)
	}
	user, err := unprivileged()
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("cannot resolve folder %q: %w", o.Dir, err)
	}
	o.Dir = dir
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("cannot create folder of PostgreSQL: %w", err)
	}
	if err := user.reach(dir); err != nil {
		return nil, err
	}

	s := &Server{
		Options: o, Host: Host, HostAddr: HostAddr, Port: o.Port, Superuser: Superuser,
		LogFile: filepath.Join(dir, "postgres.log"), bin: bin, user: user,
	}
	if s.Password, err = superuserPassword(filepath.Join(dir, "superuser-password")); err != nil {
		return nil, err
	}
	if o.TLS {
		if s.CABundle, err = certificates(s.tlsDir(), o.CertificateHosts, user); err != nil {
			return nil, err
		}
	}
	if err := s.initialise(ctx); err != nil {
		return nil, err
	}
	return s, s.start(ctx)
}

// Restart the server with the same data and port.
func (s *Server) Restart(ctx context.Context) error {
	s.Stop()
	return s.start(ctx)
}

// Stop the server. Open sessions are ended. Stopping a stopped server does nothing.
func (s *Server) Stop() {
	if s.proc == nil {
		return
	}
	// SIGINT is PostgreSQL's fast shutdown; on SIGTERM it would wait for its clients.
	_ = s.proc.Signal(syscall.SIGINT)
	select {
	case <-s.proc.Done():
	case <-time.After(stopTimeout):
		s.proc.Kill()
	}
	s.proc = nil
}

// ConnString of the superuser for a database. It holds the password.
func (s *Server) ConnString(database string) string {
	ssl := "sslmode=disable"
	if s.Options.TLS {
		ssl = "sslmode=verify-full sslrootcert=" + quote(filepath.Join(s.tlsDir(), "ca.crt"))
	}
	return fmt.Sprintf("host=%s port=%d user=%s password=%s dbname=%s %s", s.Host, s.Port, s.Superuser, quote(s.Password), quote(database), ssl)
}

// Connect as the superuser to a database.
func (s *Server) Connect(ctx context.Context, database string) (*pgx.Conn, error) {
	return pgx.Connect(ctx, s.ConnString(database))
}

func (s *Server) dataDir() string { return filepath.Join(s.Options.Dir, "data") }
func (s *Server) tlsDir() string  { return filepath.Join(s.Options.Dir, "tls") }

// initialise the data folder unless there is one. It is made beside its final place, so that one that was interrupted is not continued.
func (s *Server) initialise(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(s.dataDir(), "PG_VERSION")); err == nil {
		return nil
	}
	tmp := s.dataDir() + ".new"
	pwfile := filepath.Join(s.Options.Dir, "initdb-password")
	defer os.Remove(pwfile) // The next run writes it anew.
	if err := errors.Join(os.RemoveAll(tmp), os.Mkdir(tmp, 0o700), os.WriteFile(pwfile, []byte(s.Password), 0o600), s.user.own(tmp), s.user.own(pwfile)); err != nil {
		return fmt.Errorf("cannot prepare data folder: %w", err)
	}
	p, err := process.Start(s.spec("initdb", "-D", tmp, "-U", s.Superuser, "--pwfile", pwfile, "-A", "scram-sha-256", "-E", "UTF8", "--locale=C", "--no-sync"))
	if err != nil {
		return err
	}
	select {
	case <-p.Done():
	case <-ctx.Done():
		p.Kill()
		return ctx.Err()
	}
	if _, err := os.Stat(filepath.Join(tmp, "PG_VERSION")); err != nil {
		return fmt.Errorf("initdb failed, see %s", s.LogFile)
	}
	if err := os.Rename(tmp, s.dataDir()); err != nil {
		return fmt.Errorf("cannot move data folder into place: %w", err)
	}
	return nil
}

func (s *Server) start(ctx context.Context) error {
	if s.Port == 0 {
		port, err := process.FreePort()
		if err != nil {
			return err
		}
		s.Port = port
	}
	conf := map[string]string{
		"listen_addresses": HostAddr, "port": strconv.Itoa(s.Port), "unix_socket_directories": "", "password_encryption": "scram-sha-256",
		"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off",
	}
	if s.Options.TLS {
		conf["ssl"] = "on"
		conf["ssl_cert_file"] = filepath.Join(s.tlsDir(), "server.crt")
		conf["ssl_key_file"] = filepath.Join(s.tlsDir(), "server.key")
	}
	maps.Copy(conf, s.Options.Conf)
	args := []string{"-D", s.dataDir()}
	for _, k := range slices.Sorted(maps.Keys(conf)) {
		args = append(args, "-c", k+"="+conf[k])
	}
	p, err := process.Start(s.spec("postgres", args...))
	if err != nil {
		return err
	}
	s.proc = p

	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := p.Wait(ctx, s.ready); err != nil {
		s.Stop()
		return err
	}
	return nil
}

// ready reports no cause beyond the server's own words: a connection error of the driver may repeat how it connects.
func (s *Server) ready(ctx context.Context) error {
	c, err := s.Connect(ctx, "postgres")
	if err != nil {
		return fmt.Errorf("%s does not accept connections on port %d", Superuser, s.Port)
	}
	return c.Close(ctx)
}

func (s *Server) spec(name string, args ...string) process.Spec {
	// Fetched binaries bring their libraries along. The rest of the environment is fixed, so that PG* variables of the caller have no effect.
	env := []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC", "LD_LIBRARY_PATH=" + filepath.Join(filepath.Dir(s.bin), "lib")}
	return process.Spec{Name: name, Path: filepath.Join(s.bin, name), Args: args, Env: env, Dir: "/", LogFile: s.LogFile, Credential: s.user.credential()}
}

// superuserPassword is generated once and kept with the data.
func superuserPassword(file string) (string, error) {
	b, err := os.ReadFile(file)
	if err == nil {
		return string(b), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("cannot read the superuser's password: %w", err)
	}
	p := rand.Text()
	if err := os.WriteFile(file, []byte(p), 0o600); err != nil {
		return "", fmt.Errorf("cannot keep the superuser's password: %w", err)
	}
	return p, nil
}

// quote a value of a keyword/value connection string.
func quote(v string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(v) + "'"
}
