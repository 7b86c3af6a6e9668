// Package watch shows and steers the conversations that run on this machine, besides that of its own process.
package watch
