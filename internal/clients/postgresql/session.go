package postgresql

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// A session is one connection. All statements of this package go through it.
type session struct {
	i        *Instance
	conn     *pgx.Conn
	purpose  purpose
	database string
	// version in the form of server_version_num, for example 150018.
	version int
	// identity of the server, empty when it cannot be read.
	identity string

	reused bool
	broken bool
	since  time.Time
}

// exec runs a statement that writes.
func (s *session) exec(ctx context.Context, op Op, subject, sql string, args ...any) (int64, error) {
	if err := s.hook(ctx, op, subject); err != nil {
		return 0, err
	}
	s.i.statements[s.purpose].Add(1)
	tag, err := s.conn.Exec(ctx, sql, args...)
	return tag.RowsAffected(), s.i.wrap(op, subject, err)
}

func (s *session) hook(ctx context.Context, op Op, subject string) error {
	if s.i.cfg.Hook == nil {
		return nil
	}
	if err := s.i.cfg.Hook(ctx, op); err != nil {
		return &Error{Op: op, Subject: subject, Message: firstLine(err.Error()), class: classUnreachable}
	}
	return nil
}

// row reads one row into targets. It returns false when there is none.
func (s *session) row(ctx context.Context, op Op, subject, sql string, args []any, targets ...any) (bool, error) {
	s.i.statements[s.purpose].Add(1)
	err := s.conn.QueryRow(ctx, sql, args...).Scan(targets...)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return err == nil, s.i.wrap(op, subject, err)
}

// rows reads all rows.
func rows[T any](ctx context.Context, s *session, op Op, subject, sql string, args []any, to pgx.RowToFunc[T]) ([]T, error) {
	s.i.statements[s.purpose].Add(1)
	r, err := s.conn.Query(ctx, sql, args...)
	if err != nil {
		return nil, s.i.wrap(op, subject, err)
	}
	out, err := pgx.CollectRows(r, to)
	return out, s.i.wrap(op, subject, err)
}

// inTx runs f in a transaction. The error of the commit counts.
func (s *session) inTx(ctx context.Context, subject string, f func() error) error {
	s.i.statements[s.purpose].Add(2)
	tx, err := s.conn.Begin(ctx)
	if err != nil {
		return s.i.wrap(OpCommit, subject, err)
	}
	err = f()
	if err == nil {
		err = s.hook(ctx, OpCommit, subject)
	}
	if err == nil {
		return s.i.wrap(OpCommit, subject, tx.Commit(ctx))
	}
	clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if tx.Rollback(clean) != nil {
		s.broken = true
	}
	return err
}

// locked runs f while the session holds the advisory lock of a database name.
func (s *session) locked(ctx context.Context, database string, f func() error) error {
	key := lockKey(database)
	var ignored any
	if _, err := s.row(ctx, OpLock, database, "SELECT pg_advisory_lock($1)::text", []any{key}, &ignored); err != nil {
		return err
	}
	defer func() {
		clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		if _, err := s.row(clean, OpLock, database, "SELECT pg_advisory_unlock($1)::text", []any{key}, &ignored); err != nil {
			s.broken = true // Closing the session releases its locks.
		}
	}()
	return f()
}

// identify reads, once per connection, which server this is, and refuses a registry that others could have forged.
func (s *session) identify(ctx context.Context) error {
	if s.version < MinimumVersion {
		return &Error{Op: OpConnect, Subject: s.database, Address: s.i.cfg.address(), class: classUnsupported,
			Message: fmt.Sprintf("PostgreSQL %d is not supported: it takes %d or later", s.version/10000, MinimumVersion/10000)}
	}
	_, err := s.row(ctx, OpRead, "server identity", "SELECT system_identifier::text FROM pg_control_system()", nil, &s.identity)
	if err != nil && !IsInsufficientPrivilege(err) {
		return err
	}
	if s.database != s.i.cfg.RegistryDatabase {
		return nil
	}
	var trusted bool
	_, err = s.row(ctx, OpRead, s.database, `SELECT bool_and(o.rolname = current_user OR o.rolsuper OR o.rolcreaterole)
		FROM pg_roles o WHERE o.oid IN (
			SELECT datdba FROM pg_database WHERE datname = current_database() UNION ALL SELECT nspowner FROM pg_namespace WHERE nspname = $1)`,
		[]any{registrySchema}, &trusted)
	if err != nil {
		return err
	}
	if !trusted {
		return &Error{Op: OpConnect, Subject: s.database, Address: s.i.cfg.address(), class: classUntrusted,
			Message: "the registry database or its schema belongs to a role that does not manage roles: its records prove nothing"}
	}
	return nil
}

// readOnly says that the session cannot write. The server reports these parameters without being asked.
func (s *session) readOnly() bool {
	return s.conn.PgConn().ParameterStatus("in_hot_standby") == "on" || s.conn.PgConn().ParameterStatus("default_transaction_read_only") == "on"
}

// tlsVersion in use, for example "TLS 1.3"; empty without TLS.
func (s *session) tlsVersion() string {
	if c, ok := s.conn.PgConn().Conn().(*tls.Conn); ok {
		return tls.VersionName(c.ConnectionState().Version)
	}
	return ""
}

// close the connection and wait until the server has let go of it: it keeps its socket open until the session's process ends.
func (s *session) close() {
	pc := s.conn.PgConn()
	deadline := time.Now().Add(closeTimeout)
	if h, err := pc.Hijack(); err == nil {
		defer h.Conn.Close() // Nothing can be lost.
		_ = h.Conn.SetDeadline(deadline)
		h.Frontend.Send(&pgproto3.Terminate{})
		if h.Frontend.Flush() == nil {
			_, _ = io.Copy(io.Discard, h.Conn)
		}
		return
	}
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	_ = pc.Close(ctx) // When a statement is still under way.
	select {
	case <-pc.CleanupDone():
	case <-time.After(interruptGrace):
		// The driver has asked the server to cancel the statement and waits for it to hang up. It may wait in vain: a TLS connection that
		// was interrupted while it wrote cannot write again, not even to say goodbye, and the server keeps the session's locks.
		_ = pc.Conn().Close()
		select {
		case <-pc.CleanupDone():
		case <-ctx.Done():
		}
	}
}

// serverVersion from the text that every server reports, for example "15.18 (Debian 15.18-0+deb12u1)" or "18beta1".
func serverVersion(c interface{ PgConn() *pgconn.PgConn }) int {
	text := c.PgConn().ParameterStatus("server_version")
	number := func(s string) (int, string) {
		end := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
		if end < 0 {
			end = len(s)
		}
		n, _ := strconv.Atoi(s[:end])
		return n, s[end:]
	}
	major, rest := number(text)
	minor := 0
	if strings.HasPrefix(rest, ".") {
		minor, _ = number(rest[1:])
	}
	return major*10000 + minor
}
