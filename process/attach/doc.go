// Package attach is how other processes look at a turn while it runs and take
// part in it: a server in the process that runs the turn, and a client.
//
// They talk over a unix socket, one JSON object per line and at most 1 MiB of it.
// The server says hello first: which conversation it runs and what its newest
// event is. From then on the peer is told of every event that becomes durable, of
// text that is not durable yet, and of questions that wait. It may answer them,
// interrupt the turn, or end it. One peer at a time is attached: a person is
// there, who is asked.
//
// What holds:
//
//   - Hello and the subscription are one step, and an event is told only after it
//     is durable. Who reads the events up to hello's head, and then takes what is
//     told, has every event once, in order.
//   - A peer that is slow, gone, or sends unknown messages never holds up
//     the turn: what it does not take in time ends its connection.
//   - The end of a connection is no answer.
//
// The package knows no terminal and no store: an event is told by its
// number and its commit. Who may connect is decided by the maker of the listener.
package attach
