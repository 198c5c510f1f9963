package main

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
)

var (
	// ours finds the namespace in the name of a Tenant's database or role.
	ours = regexp.MustCompile(`(fault\d+)_t\d+`)
	// writing finds what a statement changes: the words up to the object's name.
	writing = regexp.MustCompile(`^\s*(?i)((?:CREATE|ALTER|DROP|COMMENT ON) (?:ROLE|DATABASE|EXTENSION|SCHEMA|TABLE)|GRANT|REVOKE|INSERT INTO|DELETE FROM|UPDATE)\b`)
)

// classify says in which namespace a unit writes what; nothing for what only reads.
func (c *pgConn) classify(unit []message) (ns, write string) {
	sql, params := "", []byte(nil)
	for _, m := range unit {
		switch m.kind {
		case 'Q':
			sql = string(bytes.TrimRight(m.body, "\x00"))
		case 'P':
			if p := (pgproto3.Parse{}); p.Decode(m.body) == nil {
				c.statements[p.Name] = p.Query
			}
		case 'B':
			if b := (pgproto3.Bind{}); b.Decode(m.body) == nil {
				sql, params = c.statements[b.PreparedStatement], bytes.Join(b.Parameters, []byte{0})
			}
		}
	}
	word := strings.ToUpper(strings.TrimSpace(sql))
	switch {
	case word == "BEGIN":
		c.wrote, c.ns = false, ""
	case word == "COMMIT" && c.wrote:
		c.wrote = false
		return c.ns, "COMMIT"
	}
	m := writing.FindStringSubmatch(sql)
	if m == nil {
		return "", ""
	}
	for _, text := range []string{sql, string(params), c.database} {
		if n := ours.FindStringSubmatch(text); n != nil {
			ns = n[1]
			break
		}
	}
	c.wrote, c.ns = true, ns
	return ns, strings.ToUpper(m[1])
}
