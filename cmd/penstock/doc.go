// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Command penstock is a person's tool for rate limits. It needs no Kubernetes.
//
//	penstock check     say whether files or folders of policies and stores are valid
//	penstock run       enforce policy files in front of an app, in this process
//	penstock version   say which version this is
//
// Exit codes: 0 all went well; 1 it could not run, such as an address in use or a
// store out of reach; 2 wrong arguments; 3 a policy is invalid.
package main
