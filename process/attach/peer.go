package attach

import (
	"math"
	"net"
	"slices"
	"sync"
	"time"
)

// A peer is one connection of a server. Its messages wait in a queue, so that no goroutine waits for the
// peer.
type peer struct {
	conn net.Conn

	mu     sync.Mutex
	queue  [][]byte
	unsent int           // bytes in the queue and in the present write
	limit  int           // of unsent; more ends the connection
	news   chan struct{} // the queue has a message, or is closed
	ending bool          // the connection ends when the queue is empty
}

func newPeer(conn net.Conn) *peer {
	return &peer{conn: conn, limit: math.MaxInt, news: make(chan struct{}, 1)}
}

// greeted bounds the queue from now on, beyond its present messages.
func (p *peer) greeted() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limit = p.unsent + maxUnsent
}

// send queues a message.
func (p *peer) send(m Message) {
	if line, err := Encode(m); err == nil {
		p.put(line)
	}
}

// refuse queues the reason why a message has no effect.
func (p *peer) refuse(seq int, reason string) {
	p.send(&Refused{Seq: seq, Reason: cut(reason, longestLine)})
}

// put queues a line. A peer that is too slow is cut off.
func (p *peer) put(line []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.append(line)
}

// offer queues a line that the peer can do without, unless it has much to read.
func (p *peer) offer(line []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unsent < most {
		p.append(line)
	}
}

// append is put. The lock is held.
func (p *peer) append(line []byte) {
	if p.ending {
		return
	}
	if p.unsent+len(line) > p.limit {
		p.cutOff()
		return
	}
	p.queue = append(p.queue, line)
	p.unsent += len(line)
	p.wake()
}

func (p *peer) wake() {
	select {
	case p.news <- struct{}{}:
	default:
	}
}

// sayBye queues the last message; the connection ends behind it, or when that
// takes too long.
func (p *peer) sayBye(bye Closing) {
	bye.Reason, bye.Text = cut(bye.Reason, longestLine), cut(bye.Text, longestPiece)
	line, err := Encode(&bye)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		p.append(line)
	}
	p.ending = true
	_ = p.conn.SetDeadline(time.Now().Add(closeTimeout))
	p.wake()
}

// write sends the queue until the connection ends.
func (p *peer) write() {
	defer p.conn.Close()
	for {
		batch, ending := p.next()
		if len(batch) > 0 {
			if _, err := p.conn.Write(batch); err != nil {
				p.stop()
				return
			}
			p.sent(len(batch))
			continue
		}
		if ending {
			return
		}
		<-p.news
	}
}

// next empties the queue.
func (p *peer) next() (batch []byte, ending bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	batch, p.queue = slices.Concat(p.queue...), nil
	return batch, p.ending
}

// sent makes room, but never again that of the greeting.
func (p *peer) sent(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unsent -= n
	p.limit = max(maxUnsent, p.limit-n)
}

// stop ends the connection at once.
func (p *peer) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cutOff()
}

// left ends the connection of a silent peer. After a goodbye, the peer may read it first.
func (p *peer) left() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ending {
		p.cutOff()
	}
}

// cutOff drops the queue. The lock is held.
func (p *peer) cutOff() {
	p.ending, p.queue = true, nil
	p.conn.Close()
	p.wake()
}
