// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import "net/http"

// isPreflight reports whether a browser asks by the request what another one may do
// (CORS-preflight request of the Fetch standard). Its script cannot see an answer to
// it, so a refusal would look like an app that is not there.
func isPreflight(view View) bool {
	return view.Method() == http.MethodOptions &&
		len(view.Header("origin")) == 1 && len(view.Header("access-control-request-method")) == 1
}
