// Package gitopstest runs the health checks for Argo CD and Flux with the engines that these use: gopher-lua, and Flux'
// own evaluator on cel-go. It is a module of its own, so that nothing of them becomes a dependency of olmgate.
package gitopstest
