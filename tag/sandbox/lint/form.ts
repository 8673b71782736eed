import { isList, isObject, type PlainObject } from '../parse/index.ts'
import type { Finding, Parameter, Plain } from '../types.ts'

const TYPES = ['TEXT', 'CHECKBOX', 'SELECT', 'RADIO', 'SIMPLE_TABLE', 'PARAM_TABLE', 'GROUP', 'LABEL']

/** Validators by the arguments that they take (O). */
const VALIDATORS: Readonly<Record<string, (args: readonly Plain[]) => boolean>> = {
  NON_EMPTY: (args) => args.length === 0,
  POSITIVE_NUMBER: (args) => args.length === 0,
  NON_NEGATIVE_NUMBER: (args) => args.length === 0,
  NUMBER: (args) => args.length === 0,
  DECIMAL: (args) => args.length === 0,
  REGEX: (args) => args.length === 1 && anchored(args[0]),
  STRING_LENGTH: (args) => args.length === 2 && args.every((item) => typeof item === 'number'),
}

/** The settings form: known types, unique names, validators and conditions that make sense. */
export function lintForm(parameters: readonly Parameter[]): Finding[] {
  return parameters.flatMap((parameter, index) => {
    const { name, type, line, source } = parameter
    const earlier = parameters.slice(0, index).some((other) => other.name === name)
    const messages = [
      ...(earlier ? [`The name "${name}" is there twice; all fields are flat on data.`] : []),
      ...(TYPES.includes(type) ? [] : [`"${name}": ${type} is no known type of field.`]),
      ...(name === '' ? ['A field needs a name.'] : []),
      ...[source, ...columnsOf(source)].flatMap((place) => validatorProblems(name, place)),
      ...conditionProblems(parameter, parameters),
    ]
    return messages.map((message) => ({ line, rule: 'form', message }))
  })
}

const columnsOf = ({ simpleTableColumns }: PlainObject): PlainObject[] => objects(simpleTableColumns)

function validatorProblems(name: string, { valueValidators }: PlainObject): string[] {
  return objects(valueValidators).flatMap(({ type, args }) => {
    const check = typeof type === 'string' && Object.hasOwn(VALIDATORS, type) ? VALIDATORS[type] : undefined
    if (check === undefined) return [`"${name}": ${String(type)} is no known validator.`]
    if (check(isList(args) ? args : [])) return []
    return [`"${name}": the arguments of ${String(type)} do not fit; a pattern must be anchored with ^ and $.`]
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

/** Published patterns are anchored and not, so how the form applies one is unclear: an anchored one fits both ways. */
function anchored(pattern: Plain): boolean {
  if (typeof pattern !== 'string' || !pattern.startsWith('^') || !pattern.endsWith('$')) return false
  try {
    return new RegExp(pattern).source !== ''
  } catch {
    return false
  }
}

const objects = (value: Plain): PlainObject[] => (isList(value) ? value.filter(isObject) : [])
