// Package attach is how other processes look at a turn while it runs and take
// part in it: a server in the process that runs the turn, and a client.
//
// They talk over a unix socket, one JSON object per line and at most 1 MiB of it. The server says hello
// first: its conversation and the newest event. From then on it tells the peer about every event that becomes
// durable, about text that is not durable yet, and about waiting questions. It may answer them, interrupt the
// turn, or end it. One peer at a time is attached: a person is there, who is asked.
//
// Invariants:
//
//   - Hello and the subscription are one step, and an event is told only after it
//     is durable. A peer that reads the events up to hello's head, and then takes
//     the messages, has every event once, in order.
//   - A peer that is slow, gone, or sends unknown messages never holds up
//     the turn: a message that it does not take in time ends its connection.
//   - The end of a connection is no answer.
//
// The package is free of terminals and stores: an event is sent as its number and its commit. The maker of
// the listener decides who may connect.
package attach
