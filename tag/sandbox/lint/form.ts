import { isList, isObject, type PlainObject } from '../parse/index.ts'
import type { Finding, Parameter, Plain } from '../types.ts'

/** The types of fields, each with the list that it cannot be without (O: there in every published field). */
const LISTS: Readonly<Record<string, string | null>> = {
  TEXT: null,
  CHECKBOX: null,
  LABEL: null,
  SELECT: 'selectItems',
  RADIO: 'radioItems',
  SIMPLE_TABLE: 'simpleTableColumns',
  PARAM_TABLE: 'paramTableColumns',
  GROUP: 'subParams',
}

/** Of fields of any type (O; `textAsList` and the two titles of rows R). */
const KEYS: ReadonlySet<string> = new Set([
  ...[
    'type',
    'name',
    'displayName',
    'help',
    'defaultValue',
    'simpleValueType',
    'alwaysInSummary',
    'enablingConditions',
  ],
  ...['valueValidators', 'valueHint', 'valueUnit', 'lineCount', 'textAsList', 'canBeEmptyString', 'notSetText'],
  ...['checkboxText', 'selectItems', 'macrosInSelect', 'radioItems', 'subParams', 'groupStyle'],
  ...['simpleTableColumns', 'paramTableColumns', 'newRowButtonText', 'newRowTitle', 'editRowTitle'],
])

const GROUP_STYLES = ['ZIPPY_OPEN', 'ZIPPY_CLOSED', 'ZIPPY_OPEN_ON_PARAM', 'NO_ZIPPY']

const noArguments = (args: readonly Plain[]): boolean => args.length === 0
const twoNumbers = (args: readonly Plain[]): boolean => args.length === 2 && args.every(isNumber)

/** Validators by the arguments that they take (O). */
const VALIDATORS: Readonly<Record<string, (args: readonly Plain[]) => boolean>> = {
  NON_EMPTY: noArguments,
  POSITIVE_NUMBER: noArguments,
  NON_NEGATIVE_NUMBER: noArguments,
  NUMBER: noArguments,
  DECIMAL: noArguments,
  REGEX: (args) => args.length === 1 && isPattern(args[0]),
  STRING_LENGTH: twoNumbers,
  TABLE_ROW_COUNT: twoNumbers,
}

/** The settings form: known types and keys, unique names, validators and conditions that make sense. */
export function lintForm(parameters: readonly Parameter[]): Finding[] {
  return parameters.flatMap((parameter, index) => {
    const { name, type, line, source } = parameter
    const places = [source, ...objects(source.simpleTableColumns), ...columnsOfParams(source)]
    const earlier = parameters.slice(0, index).some((other) => other.name === name)
    const errors = [
      ...(earlier ? [`The name "${name}" is there twice; all fields are flat on data.`] : []),
      ...(Object.hasOwn(LISTS, type) ? [] : [`"${name}": ${type} is no known type of field.`]),
      ...(name === '' ? ['A field needs a name.'] : []),
      ...keyProblems(parameter),
      ...optionProblems(name, places),
      ...places.flatMap((place) => validatorProblems(name, place)),
      ...conditionProblems(parameter, parameters),
    ]
    const wishes = places.flatMap((place) => looseProblems(name, place))
    return [
      ...errors.map((message) => ({ line, rule: 'form', message })),
      ...wishes.map((message) => ({ line, rule: 'style', message })),
    ]
  })
}

/** A PARAM_TABLE holds whole fields as its columns. */
const columnsOfParams = ({ paramTableColumns }: PlainObject): PlainObject[] =>
  objects(paramTableColumns).flatMap(({ param }) => (isObject(param) ? [param] : []))

function keyProblems({ name, type, source }: Parameter): string[] {
  const list = Object.hasOwn(LISTS, type) ? (LISTS[type] ?? null) : null
  return [
    ...Object.keys(source).flatMap((key) => (KEYS.has(key) ? [] : [`"${name}": a field has no key "${key}".`])),
    ...(list === null || isList(source[list]) ? [] : [`"${name}": a field of type ${type} needs a list in ${list}.`]),
  ]
}

function optionProblems(name: string, places: readonly PlainObject[]): string[] {
  return places.flatMap(({ selectItems, radioItems, groupStyle }) => [
    ...[...objects(selectItems), ...objects(radioItems)].flatMap(({ value, displayValue }) =>
      value === undefined || typeof displayValue !== 'string'
        ? [`"${name}": each choice needs a value and a displayValue.`]
        : [],
    ),
    ...(groupStyle === undefined || (typeof groupStyle === 'string' && GROUP_STYLES.includes(groupStyle))
      ? []
      : [`"${name}": groupStyle must be one of ${GROUP_STYLES.join(', ')}.`]),
  ])
}

function validatorProblems(name: string, { valueValidators }: PlainObject): string[] {
  return objects(valueValidators).flatMap(({ type, args }) => {
    const check = typeof type === 'string' && Object.hasOwn(VALIDATORS, type) ? VALIDATORS[type] : undefined
    if (check === undefined) return [`"${name}": ${String(type)} is no known validator.`]
    return check(isList(args) ? args : []) ? [] : [`"${name}": the arguments of ${String(type)} do not fit.`]
  })
}

/** Published patterns are anchored and not, so how the form applies one is unclear: an anchored one fits both ways. */
function looseProblems(name: string, { valueValidators }: PlainObject): string[] {
  return objects(valueValidators).flatMap(({ type, args }) => {
    const [pattern] = isList(args) ? args : []
    if (type !== 'REGEX' || !isPattern(pattern)) return []
    const isAnchored = pattern.startsWith('^') && pattern.endsWith('$')
    return isAnchored ? [] : [`"${name}": a pattern should be anchored with ^ and $.`]
  })
}

function conditionProblems({ name, source }: Parameter, parameters: readonly Parameter[]): string[] {
  return objects(source.enablingConditions).flatMap(({ paramName, type }) => {
    const target = parameters.some((other) => other.name === paramName)
    const known = type === 'EQUALS' || type === 'NOT_EQUALS'
    return [
      ...(target ? [] : [`"${name}": enablingConditions names no field "${String(paramName)}".`]),
      ...(known ? [] : [`"${name}": enablingConditions knows EQUALS and NOT_EQUALS, not ${String(type)}.`]),
    ]
  })
}

function isPattern(pattern: Plain): pattern is string {
  if (typeof pattern !== 'string') return false
  try {
    return new RegExp(pattern).source !== ''
  } catch {
    return false
  }
}

const isNumber = (value: Plain): boolean => typeof value === 'number'

const objects = (value: Plain): PlainObject[] => (isList(value) ? value.filter(isObject) : [])
