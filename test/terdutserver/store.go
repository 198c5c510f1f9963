package terdutserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// A store holds the state. An update whose function fails changes nothing. What a view shows must not be changed.
type store interface {
	ready(ctx context.Context) error
	view(ctx context.Context, f func(*State) error) error
	update(ctx context.Context, f func(*State) error) error
	close()
}

// memory is a store that ends with the process.
type memory struct {
	mu    sync.Mutex
	state *State
}

func (*memory) ready(context.Context) error { return nil }
func (*memory) close()                      {}

func (m *memory) view(_ context.Context, f func(*State) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return f(m.state)
}

func (m *memory) update(_ context.Context, f func(*State) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := m.state.clone()
	if err := f(next); err != nil {
		return err
	}
	m.state = next
	return nil
}

// databaseTimeout bounds what one request does in the database.
const databaseTimeout = 20 * time.Second

// database is a store in PostgreSQL: one row with the whole state, so that an update is one transaction however many processes there are.
// It connects when it is first needed, and again when a connection was lost.
type database struct {
	dsn string

	mu       sync.Mutex
	conn     *pgx.Conn
	migrated bool
}

// migrationLock is the advisory lock that keeps two processes from migrating at once. Its number means nothing.
const migrationLock = 74832

func (d *database) ready(ctx context.Context) error {
	return d.tx(ctx, func(pgx.Tx) error { return nil })
}

func (d *database) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hangUp()
}

func (d *database) hangUp() {
	if d.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = d.conn.Close(ctx) // What is not closed here ends with its socket.
	d.conn = nil
}

func (d *database) view(ctx context.Context, f func(*State) error) error {
	return d.tx(ctx, func(tx pgx.Tx) error {
		s, err := read(ctx, tx, `SELECT state FROM terdut_state`)
		if err != nil {
			return err
		}
		return f(s)
	})
}

func (d *database) update(ctx context.Context, f func(*State) error) error {
	return d.tx(ctx, func(tx pgx.Tx) error {
		s, err := read(ctx, tx, `SELECT state FROM terdut_state FOR UPDATE`)
		if err != nil {
			return err
		}
		if err := f(s); err != nil {
			return err
		}
		b, err := json.Marshal(s)
		if err != nil {
			return errors.New("cannot encode state")
		}
		if _, err := tx.Exec(ctx, `UPDATE terdut_state SET state = $1`, string(b)); err != nil {
			return unavailable("write state", err)
		}
		return nil
	})
}

func read(ctx context.Context, tx pgx.Tx, query string) (*State, error) {
	var b []byte
	if err := tx.QueryRow(ctx, query).Scan(&b); err != nil {
		return nil, unavailable("read state", err)
	}
	s := newState()
	if err := json.Unmarshal(b, s); err != nil {
		return nil, errors.New("cannot decode state") // What the decoder says may quote a hash.
	}
	return s, nil
}

// tx runs f in a transaction, on a database that is migrated.
func (d *database) tx(ctx context.Context, f func(pgx.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, databaseTimeout)
	defer cancel()
	d.mu.Lock()
	defer d.mu.Unlock()

	if d.conn == nil || d.conn.IsClosed() || d.conn.Ping(ctx) != nil {
		d.hangUp()
		cfg, err := pgx.ParseConfig(d.dsn)
		if err != nil {
			return unavailable("connect to database", errors.New("the DSN cannot be read")) // What the parser says may quote it.
		}
		conn, err := pgx.ConnectConfig(ctx, cfg)
		if err != nil {
			return unavailable("connect to database", err)
		}
		d.conn = conn
	}
	if !d.migrated {
		if err := d.migrate(ctx); err != nil {
			return err
		}
		d.migrated = true
	}
	tx, err := d.conn.Begin(ctx)
	if err != nil {
		return unavailable("begin transaction", err)
	}
	defer tx.Rollback(ctx) //nolint:errcheck // It does nothing after a commit, and a lost connection ends the transaction.
	if err := f(tx); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return unavailable("commit transaction", err)
	}
	return nil
}

func (d *database) migrate(ctx context.Context) error {
	tx, err := d.conn.Begin(ctx)
	if err != nil {
		return unavailable("begin transaction", err)
	}
	defer tx.Rollback(ctx) //nolint:errcheck // As above.
	b, err := json.Marshal(newState())
	if err != nil {
		return errors.New("cannot encode state")
	}
	for _, s := range []struct {
		sql  string
		args []any
	}{
		{sql: `SELECT pg_advisory_xact_lock($1)`, args: []any{migrationLock}},
		{sql: `CREATE TABLE IF NOT EXISTS terdut_state (singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton), state jsonb NOT NULL)`},
		{sql: `INSERT INTO terdut_state (state) VALUES ($1) ON CONFLICT DO NOTHING`, args: []any{string(b)}},
	} {
		if _, err := tx.Exec(ctx, s.sql, s.args...); err != nil {
			return unavailable("migrate database", err)
		}
	}
	if err := tx.Commit(ctx); err != nil {
		return unavailable("migrate database", err)
	}
	return nil
}

// errUnavailable is what a database that cannot be used ends with.
var errUnavailable = errors.New("the database is not available")

// unavailable keeps the driver's words, which name host and user and never a password.
func unavailable(verb string, err error) error {
	return fmt.Errorf("cannot %s: %w: %w", verb, errUnavailable, err)
}
