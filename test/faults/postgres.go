package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// A pgProxy stands before PostgreSQL. It understands as much of the protocol (PostgreSQL documentation, chapter 55) as it takes to know
// what is written, and to let it go wrong.
type pgProxy struct {
	injector *injector
	target   string
	listener net.Listener

	mu    sync.Mutex
	conns map[*pgConn]struct{}
}

func startPGProxy(i *injector, target string) (*pgProxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot listen: %w", err)
	}
	p := &pgProxy{injector: i, target: target, listener: l, conns: map[*pgConn]struct{}{}}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return // It was closed.
			}
			go p.serve(c)
		}
	}()
	return p, nil
}

func (p *pgProxy) port() int { return p.listener.Addr().(*net.TCPAddr).Port }

func (p *pgProxy) close() {
	_ = p.listener.Close()
	p.cut()
}

// cut all connections.
func (p *pgProxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.close()
	}
}

// A pgConn is one session.
type pgConn struct {
	proxy          *pgProxy
	client, server net.Conn
	// database that it is connected to.
	database string
	// statements that were prepared, by name.
	statements map[string]string
	// tx is the transaction status that the server reported last, see ReadyForQuery.
	tx atomic.Int32
	// wrote is true when the transaction has written, for the Tenant of namespace ns.
	wrote bool
	ns    string
	// answered, while it is set, takes the place of the client: it is closed at the next ReadyForQuery.
	answered atomic.Pointer[chan struct{}]
	done     chan struct{}
}

func (c *pgConn) close() {
	_ = c.client.Close()
	if c.server != nil {
		_ = c.server.Close()
	}
}

// A message of the protocol: type and body.
type message struct {
	kind byte
	body []byte
}

func readMessage(r io.Reader) (message, error) {
	head := make([]byte, 5)
	if _, err := io.ReadFull(r, head); err != nil {
		return message{}, err
	}
	m := message{kind: head[0], body: make([]byte, binary.BigEndian.Uint32(head[1:])-4)}
	_, err := io.ReadFull(r, m.body)
	return m, err
}

func (m message) encode() []byte {
	b := binary.BigEndian.AppendUint32([]byte{m.kind}, uint32(len(m.body)+4))
	return append(b, m.body...)
}

func (p *pgProxy) serve(conn net.Conn) {
	c := &pgConn{proxy: p, client: conn, statements: map[string]string{}, done: make(chan struct{})}
	defer func() { c.close() }()
	p.mu.Lock()
	p.conns[c] = struct{}{}
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.conns, c)
		p.mu.Unlock()
	}()

	first, err := c.startup()
	if err != nil {
		return
	}
	server, err := net.Dial("tcp", p.target) //nolint:noctx // The loopback interface answers at once.
	if err != nil {
		return
	}
	p.mu.Lock()
	c.server = server
	p.mu.Unlock()
	if _, err := c.server.Write(first); err != nil {
		return
	}
	go func() {
		defer close(c.done)
		defer c.close()
		c.answers()
	}()
	c.requests()
	c.close()
	<-c.done
}

// startup reads what a session begins with. The error says that it ends here.
func (c *pgConn) startup() ([]byte, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(c.client, head); err != nil {
		return nil, err
	}
	body := make([]byte, binary.BigEndian.Uint32(head)-4)
	if _, err := io.ReadFull(c.client, body); err != nil {
		return nil, err
	}
	s := pgproto3.StartupMessage{}
	if s.Decode(body) == nil { // Else it cancels a statement of another session.
		c.database = s.Parameters["database"]
		switch c.proxy.injector.read(serverPG) {
		case faultDown, faultRefused:
			return nil, errors.New("down")
		case faultFull:
			c.refuse("FATAL", "53300", "sorry, too many clients already")
			return nil, errors.New("full")
		case faultStarting:
			c.refuse("FATAL", "57P03", "the database system is starting up")
			return nil, errors.New("starting")
		}
	}
	return slices.Concat(head, body), nil
}

// refuse sends an error. Whoever asked may be gone.
func (c *pgConn) refuse(severity, code, text string) {
	b, err := (&pgproto3.ErrorResponse{Severity: severity, SeverityUnlocalized: severity, Code: code, Message: text}).Encode(nil)
	if err == nil {
		_, _ = c.client.Write(b)
	}
}

// answers passes on what the server says.
func (c *pgConn) answers() {
	for {
		m, err := readMessage(c.server)
		if err != nil {
			return
		}
		if m.kind == 'Z' {
			c.tx.Store(int32(m.body[0]))
		}
		if a := c.answered.Load(); a != nil {
			if m.kind == 'Z' {
				close(*a)
				return
			}
			continue
		}
		if _, err := c.client.Write(m.encode()); err != nil {
			return
		}
	}
}

// requests passes on what the client says: a simple query, or what belongs to an extended one up to its Sync, at a time.
func (c *pgConn) requests() {
	var unit []message
	for {
		m, err := readMessage(c.client)
		if err != nil {
			return
		}
		unit = append(unit, m)
		if strings.IndexByte("PBDECH", m.kind) >= 0 {
			continue
		}
		if !c.request(unit) {
			return
		}
		unit = nil
	}
}

// request passes on one unit, unless something is to go wrong. It returns false when the session is over.
func (c *pgConn) request(unit []message) bool {
	ns, write := c.classify(unit)
	f := c.proxy.injector.read(serverPG)
	if write != "" {
		f = c.proxy.injector.write(serverPG, ns, write)
	}
	switch f {
	case faultKillBefore:
		c.proxy.injector.kill()
		return false
	case faultDown:
		c.proxy.cut()
		return false
	case faultRefused:
		return false
	case faultFull:
		// Sessions that are there go on, new ones are refused: this one has to be a new one.
		return write == "" && c.forward(unit)
	case faultStarting:
		c.refuse("FATAL", "57P01", "terminating connection due to administrator command")
		return false
	case faultReadOnly:
		c.refuse("ERROR", "25006", "cannot execute a write in a read-only transaction")
		status := byte('I')
		if c.tx.Load() != 'I' {
			status = 'E'
		}
		_, err := c.client.Write(message{kind: 'Z', body: []byte{status}}.encode())
		return err == nil
	case faultKillAfter, faultLost, faultSlow, faultLate:
		if f == faultLate {
			time.Sleep(lateness)
		}
		answered := make(chan struct{})
		c.answered.Store(&answered)
		if !c.forward(unit) {
			return false
		}
		select {
		case <-answered:
		case <-c.done:
		}
		switch f {
		case faultKillAfter:
			c.proxy.injector.kill()
		case faultSlow:
			time.Sleep(lateness)
		}
		return false
	}
	return c.forward(unit)
}

func (c *pgConn) forward(unit []message) bool {
	var b []byte
	for _, m := range unit {
		b = append(b, m.encode()...)
	}
	_, err := c.server.Write(b)
	return err == nil
}
