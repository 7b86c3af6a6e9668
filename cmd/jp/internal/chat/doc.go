// Package chat is jp as a conversation on a terminal: the person types, jp asks the model, and the
// person types again. A turn goes through package agent like any other, and the process holds the
// conversation only while it runs.
package chat
