// Package problem has the errors that users see: a code, a message, and the commands that
// help.
package problem
