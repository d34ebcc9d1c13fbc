// Package rotation has tests that change the serving certificates of olmgate in
// every way there is while a steady load of requests goes through the webhook.
// failurePolicy is Fail, so that every failure shows.
package rotation
