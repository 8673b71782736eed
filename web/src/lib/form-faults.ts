import type { UseFormReturnType } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { type FormEvent, type RefObject, useEffect, useRef, useState } from 'react'
import { ApiError } from '../api/client.ts'
import { useUnsaved } from './use-unsaved.ts'

/** What the service found wrong with a form. */
interface Faults {
  /** By the form's field names, `config.slow_ms`. */
  fields: Record<string, string>
  /** What belongs to no field that is shown. */
  rest: string | null
}

/**
 * Sorts the service's faults to the fields of a form: `/config/hosts/0` belongs to the field `config.hosts`.
 *
 * @param names of the fields that are shown
 */
export function faultsOf(error: Error, names: readonly string[]): Faults {
  if (!(error instanceof ApiError) || error.details.length === 0) return { fields: {}, rest: error.message }
  const fields: Record<string, string> = {}
  const rest: string[] = []
  for (const { path, message } of error.details) {
    const place = path.slice(1).replaceAll('/', '.')
    const name = names.find((each) => place === each || place.startsWith(`${each}.`))
    if (name === undefined) rest.push(`${place} ${message}`.trim())
    else fields[name] ??= message
  }
  return { fields, rest: rest.length === 0 ? null : rest.join('; ') }
}

/**
 * Leads to what a form was refused for: after each refusal the first field at fault gets the focus and is scrolled to, or,
 * where no field is at fault, the sentence that says why.
 *
 * @param errors of the form: a new object with each refusal
 * @param rest what belongs to no field
 * @returns for the form element
 */
export function useFaultFocus(errors: object, rest: string | null): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (Object.keys(errors).length === 0 && rest === null) return
    const field = form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')
    const place = field ?? form.current?.querySelector<HTMLElement>('[role="alert"]')
    // A field may lie in a folded part of the form.
    const folded = place?.closest('details')
    if (folded) folded.open = true
    place?.scrollIntoView({ block: 'center' })
    field?.focus({ preventScroll: true })
  }, [errors, rest])
  return form
}

interface Saving {
  /** For the form element. */
  formRef: RefObject<HTMLFormElement | null>
  onSubmit: (event?: FormEvent<HTMLFormElement>) => void
  isBusy: boolean
  /** Why it was refused, where no field says so. */
  rest: string | null
}

/**
 * Saves a form and, when it was refused, says so at its fields. Asks before what is not saved is lost.
 *
 * @param save rejects when it was refused, as `ApiError` with what is wrong with which field
 * @param namesOf the fields that are shown, by the service's names
 * @param renamed those that have another name in the form, by the service's name
 */
export function useSaving<Values extends object>(
  form: UseFormReturnType<Values>,
  save: (values: Values) => Promise<unknown>,
  namesOf: (values: Values) => readonly string[] = Object.keys,
  renamed: Readonly<Record<string, string>> = {},
): Saving {
  const [rest, setRest] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const formRef = useFaultFocus(form.errors, rest)
  useUnsaved(() => !isBusy && form.isDirty())
  const onSubmit = form.onSubmit(async (values) => {
    setRest(null)
    setBusy(true)
    try {
      await save(values)
      form.resetDirty()
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown))
      // Once the form is closed or left, nothing else says so.
      if (formRef.current === null) {
        notifications.show({ color: 'danger', title: 'Not saved', message: error.message })
      }
      const faults = faultsOf(error, namesOf(values))
      form.setErrors(
        Object.fromEntries(Object.entries(faults.fields).map(([field, fault]) => [renamed[field] ?? field, fault])),
      )
      setRest(faults.rest)
    } finally {
      setBusy(false)
    }
  })
  return { formRef, onSubmit, isBusy, rest }
}
