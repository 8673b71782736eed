/**
 * The methods of values that sandboxed JavaScript has (D, standard-library page; hasOwnProperty O, in nine templates).
 * Functions have no method on that page.
 */
export const METHODS = {
  Array: [
    'concat',
    'every',
    'filter',
    'forEach',
    'indexOf',
    'join',
    'lastIndexOf',
    'map',
    'pop',
    'push',
    'reduce',
    'reduceRight',
    'reverse',
    'shift',
    'slice',
    'some',
    'sort',
    'splice',
    'toString',
    'unshift',
  ],
  String: [
    'charAt',
    'concat',
    'indexOf',
    'lastIndexOf',
    'match',
    'replace',
    'search',
    'slice',
    'split',
    'substring',
    'toLowerCase',
    'toLocaleLowerCase',
    'toString',
    'toUpperCase',
    'toLocaleUpperCase',
    'trim',
  ],
  Object: ['toString', 'hasOwnProperty'],
  Boolean: ['toString'],
  Number: ['toString'],
  Function: [],
} as const satisfies Record<string, readonly string[]>

/** Ways out of the sandbox: they lead to constructors, prototypes and callers (D: no constructors, no globals). */
export const FORBIDDEN_PROPERTIES: readonly string[] = [
  '__defineGetter__',
  '__defineSetter__',
  '__lookupGetter__',
  '__lookupSetter__',
  '__proto__',
  'callee',
  'caller',
  'constructor',
  'prototype',
]
