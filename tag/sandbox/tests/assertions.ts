import { type Inner, type InnerFunction, type Realm, sameContent, show } from '../realm/index.ts'

/** A scenario's expectation does not hold. */
export class AssertionFailed extends Error {
  override readonly name = 'AssertionFailed'
}

type Check = (subject: Inner, expected: readonly Inner[]) => boolean

/** The matchers of assertThat. Content is compared deeply, the strict ones compare identity. */
const MATCHERS: Readonly<Record<string, Check>> = {
  isUndefined: (subject) => subject === undefined,
  isDefined: (subject) => subject !== undefined,
  isNull: (subject) => subject === null,
  isNotNull: (subject) => subject !== null,
  isTrue: (subject) => subject === true,
  isFalse: (subject) => subject === false,
  isTruthy: (subject) => Boolean(subject),
  isFalsy: (subject) => !subject,
  isNaN: (subject) => Number.isNaN(subject),
  isNotNaN: (subject) => !Number.isNaN(subject),
  isArray: (subject) => Array.isArray(subject),
  isBoolean: (subject) => typeof subject === 'boolean',
  isFunction: (subject) => typeof subject === 'function',
  isNumber: (subject) => typeof subject === 'number',
  isObject: (subject) => typeof subject === 'object' && subject !== null && !Array.isArray(subject),
  isString: (subject) => typeof subject === 'string',
  isEqualTo: (subject, [expected]) => sameContent(subject, expected),
  isNotEqualTo: (subject, [expected]) => !sameContent(subject, expected),
  isStrictlyEqualTo: (subject, [expected]) => subject === expected,
  isNotStrictlyEqualTo: (subject, [expected]) => subject !== expected,
  isAnyOf: (subject, expected) => has(expected, subject),
  isNoneOf: (subject, expected) => !has(expected, subject),
  isGreaterThan: (subject, [bound]) => numbers(subject, bound) && Number(subject) > Number(bound),
  isGreaterThanOrEqualTo: (subject, [bound]) => numbers(subject, bound) && Number(subject) >= Number(bound),
  isLessThan: (subject, [bound]) => numbers(subject, bound) && Number(subject) < Number(bound),
  isLessThanOrEqualTo: (subject, [bound]) => numbers(subject, bound) && Number(subject) <= Number(bound),
  contains: (subject, expected) => isCollection(subject) && expected.every((item) => holds(subject, item)),
  doesNotContain: (subject, expected) => isCollection(subject) && !expected.some((item) => holds(subject, item)),
  containsExactly: (subject, expected) => Array.isArray(subject) && sameItems(subject, expected),
  doesNotContainExactly: (subject, expected) => Array.isArray(subject) && !sameItems(subject, expected),
  hasLength: (subject, [length]) => isCollection(subject) && subject.length === length,
  isEmpty: (subject) => sizeOf(subject) === 0,
  isNotEmpty: (subject) => (sizeOf(subject) ?? 0) > 0,
}

/** `assertThat(subject, message?)`: an object of the sandbox with all matchers. A failing one throws. */
export function assertThat({ inside }: Realm, subject: Inner, message: Inner): Inner {
  const matcher = ([name, check]: [string, Check]): [string, InnerFunction] => [
    name,
    inside.wrap((...expected) => {
      if (check(subject, expected)) return
      const lead = message === undefined ? '' : `${String(message)}: `
      throw new AssertionFailed(`${lead}${show(subject)} ${name}(${expected.map(show).join(', ')}) does not hold.`)
    }),
  ]
  return inside.object(Object.fromEntries(Object.entries(MATCHERS).map(matcher)))
}

/** `assertApi(name)`: what the calls of an API were. */
export function assertApi({ inside }: Realm, name: string, calls: readonly (readonly Inner[])[]): Inner {
  const demand = (holds: boolean, expectation: string) => {
    if (holds) return
    const seen = calls.length === 0 ? 'it was not called' : `calls: ${calls.map(showArguments).join(', ')}`
    throw new AssertionFailed(`${name} ${expectation}; ${seen}.`)
  }
  const calledWith = (expected: readonly Inner[]) => calls.some((args) => sameContent(args, expected))
  return inside.object({
    wasCalled: inside.wrap(() => demand(calls.length > 0, 'should have been called')),
    wasNotCalled: inside.wrap(() => demand(calls.length === 0, 'should not have been called')),
    wasCalledWith: inside.wrap((...expected) =>
      demand(calledWith(expected), `should have been called with ${showArguments(expected)}`),
    ),
    wasNotCalledWith: inside.wrap((...expected) =>
      demand(!calledWith(expected), `should not have been called with ${showArguments(expected)}`),
    ),
  })
}

const showArguments = (args: readonly Inner[]): string => `(${args.map(show).join(', ')})`

const has = (items: readonly Inner[], wanted: Inner): boolean => items.some((item) => sameContent(item, wanted))

const numbers = (...values: Inner[]): boolean => values.every((value) => typeof value === 'number')

const isCollection = (value: Inner): value is string | readonly Inner[] =>
  typeof value === 'string' || Array.isArray(value)

const holds = (subject: string | readonly Inner[], item: Inner): boolean =>
  typeof subject === 'string' ? subject.includes(String(item)) : has(subject, item)

function sameItems(subject: readonly Inner[], expected: readonly Inner[]): boolean {
  const left = [...subject]
  for (const item of expected) {
    const at = left.findIndex((other) => sameContent(other, item))
    if (at === -1) return false
    left.splice(at, 1)
  }
  return left.length === 0
}

function sizeOf(subject: Inner): number | null {
  if (isCollection(subject)) return subject.length
  return typeof subject === 'object' && subject !== null ? Object.keys(subject).length : null
}
