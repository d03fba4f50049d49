// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package token

// KeyAddress is where the keys of an issuer are, and who says so: what is told of it
// where they cannot be had.
type KeyAddress struct {
	URL string
	// NamedBy are the providers of policies that name it, in the policies' order.
	NamedBy []Naming
}

// Naming is a provider of a policy that names an address.
type Naming struct {
	// Policy is the policy's label, as in metrics.
	Policy   string
	Provider string
	// Issuer is what the claim iss has to equal.
	Issuer string
}
