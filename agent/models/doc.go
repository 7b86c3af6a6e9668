// Package models opens the model that a configuration names.
package models
