// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"errors"
	"net/http"

	"github.com/penstock-dev/penstock/internal/appprobe"
)

// serveProbe performs a probe of the app: 200 if it passes, 503 with the reason if not.
// What the app says in its answer stays in the pod.
func serveProbe(prober *appprobe.Prober) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := prober.Probe(r.Context(), r.PathValue("name"))
		switch {
		case err == nil:
			writeState(w, http.StatusOK, "ok")
		case errors.Is(err, appprobe.ErrUnknown):
			writeState(w, http.StatusNotFound, err.Error())
		default:
			writeState(w, http.StatusServiceUnavailable, err.Error())
		}
	}
}
