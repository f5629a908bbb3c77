// Package layers holds no code: its test holds the import rules of the module.
package layers
