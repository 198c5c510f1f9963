package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ryuvia/provider-terdut/cluster/local/postgres"
	"github.com/ryuvia/provider-terdut/cluster/local/product"
)

// sampleEvery is how often connections are counted.
const sampleEvery = 10 * time.Millisecond

// sampleConnections counts the provider's sessions until the returned function is called, which returns the highest count.
func sampleConnections(ctx context.Context, s *postgres.Server) (stop func() (int, error), err error) {
	conn, err := s.Connect(ctx, "postgres")
	if err != nil {
		return nil, fmt.Errorf("cannot connect to PostgreSQL as superuser: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	most, done := 0, make(chan error, 1)
	go func() {
		defer conn.Close(context.WithoutCancel(ctx)) // Nothing is left to do with it.
		done <- until(ctx, sampleEvery, func() (bool, error) {
			n := 0
			// The name that the provider's sessions of all kinds have: of management, in tenants' databases, and login checks.
			err := conn.QueryRow(ctx, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'provider-terdut'").Scan(&n)
			most = max(most, n)
			return false, err
		})
	}()
	return func() (int, error) {
		cancel()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			return 0, fmt.Errorf("cannot count connections: %w", err)
		}
		return most, nil
	}, nil
}

// statements counts what the server executed, with the contrib module pg_stat_statements.
type statements struct {
	conn *pgx.Conn
	// counted is false when the server's installation lacks the module.
	counted bool
}

// countStatements makes the server count statements, for which it is restarted once.
func countStatements(ctx context.Context, s *postgres.Server) (*statements, error) {
	conn, err := s.Connect(ctx, "postgres")
	if err != nil {
		return nil, fmt.Errorf("cannot connect to PostgreSQL as superuser: %w", err)
	}
	st := &statements{conn: conn}
	err = conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_stat_statements')").Scan(&st.counted)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot look for pg_stat_statements: %w", err), conn.Close(ctx))
	}
	if !st.counted {
		return st, nil
	}
	_ = conn.Close(ctx) // The server is about to end it.
	if s.Options.Conf["shared_preload_libraries"] == "" {
		s.Options.Conf["shared_preload_libraries"] = "pg_stat_statements"
		// Statements of each database are entries of their own.
		s.Options.Conf["pg_stat_statements.max"] = "50000"
		if err := s.Restart(ctx); err != nil {
			return nil, err
		}
	}
	if st.conn, err = s.Connect(ctx, "postgres"); err != nil {
		return nil, fmt.Errorf("cannot connect to PostgreSQL as superuser: %w", err)
	}
	if _, err := st.conn.Exec(ctx, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements"); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot install pg_stat_statements: %w", err), st.close(ctx))
	}
	return st, nil
}

// close the connection, also when the context has ended.
func (s *statements) close(ctx context.Context) error {
	return s.conn.Close(context.WithoutCancel(ctx))
}

// sqlCounts are totals since the server started.
type sqlCounts struct {
	// management are statements of the management role in the management and the registry database, tenant those elsewhere.
	management, tenant float64
	// sessions in tenants' databases, login checks included.
	sessions float64
}

func (s *statements) read(ctx context.Context) (sqlCounts, error) {
	c := sqlCounts{}
	if err := s.conn.QueryRow(ctx, `SELECT coalesce(sum(sessions), 0) FROM pg_stat_database
		WHERE datname NOT IN ('postgres', 'terdut', 'template0', 'template1')`).Scan(&c.sessions); err != nil {
		return c, fmt.Errorf("cannot count sessions: %w", err)
	}
	if !s.counted {
		return c, nil
	}
	err := s.conn.QueryRow(ctx, `SELECT coalesce(sum(calls) FILTER (WHERE d.datname IN ('postgres', 'terdut')), 0),
		coalesce(sum(calls) FILTER (WHERE d.datname NOT IN ('postgres', 'terdut')), 0)
		FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid JOIN pg_roles r ON r.oid = s.userid WHERE r.rolname = $1`,
		product.ManagementRole).Scan(&c.management, &c.tenant)
	if err != nil {
		return c, fmt.Errorf("cannot count statements: %w", err)
	}
	return c, nil
}
