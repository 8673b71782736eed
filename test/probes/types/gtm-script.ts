/** `gtm.js` of a container as Google hands it out: the version stands in `resource`, others stand everywhere else. */
export const gtmScript = (version: string): string => `
// Copyright 2012 Google Inc. All rights reserved.

(function(){

var data = {
"resource": {
  "version":"${version}",

  "macros":[{"function":"__u","vtp_component":"URL"},{"function":"__v","version":"998"}],
  "tags":[{"function":"__html","vtp_html":"\\u003Cscript\\u003Ewindow.app={\\"resource\\":{\\"version\\":\\"997\\"}}\\u003C/script\\u003E","tag_id":3}],
  "predicates":[],
  "rules":[]
},
"runtime":[[50,"__cvt_1",[46,"a"]]],
"permissions":{"__cvt_1":{"version":"996"}}
};
var productSettings = {"version":"995"};
})()
`
