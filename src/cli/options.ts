import { InvalidArgumentError } from 'commander'

/** Readers of option values; what they refuse becomes one line for the operator and exit code 1. */

export const wholeNumber =
  (min: number, max: number) =>
  (text: string): number => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    if (!(value >= min && value <= max)) throw new InvalidArgumentError(`Give a whole number from ${min} to ${max}.`)
    return value
  }

export function httpUrl(text: string): string {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new InvalidArgumentError('Give an address like https://tagwarden.example.com/ingest.')
  }
  return text
}

/** For options that take several values: gathers them, and forgets the default with the first. */
export const httpUrls = (text: string, before: readonly string[] | undefined): readonly string[] => [
  ...(before ?? []),
  httpUrl(text),
]

export function headerName(text: string): string {
  if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(text)) throw new InvalidArgumentError('Give the name of an HTTP header.')
  return text
}

export function timezone(text: string): string {
  try {
    new Intl.DateTimeFormat('en', { timeZone: text })
  } catch {
    throw new InvalidArgumentError('Give a time zone like Europe/Berlin.')
  }
  return text
}
