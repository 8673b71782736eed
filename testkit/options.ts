/** The whole number of a command-line option. @throws Error that names the option. */
export function wholeNumber(option: string, text: string, smallest: number): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < smallest) {
    throw new Error(`${option} ${text} is not valid: a whole number from ${smallest} on`)
  }
  return value
}
