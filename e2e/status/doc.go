// Package status shows that the status writer keeps the conditions of ClusterExtensions right: when a catalog's content
// changes, beside a controller that behaves as operator-controller does, and when leaders, watches and servers fail.
package status
