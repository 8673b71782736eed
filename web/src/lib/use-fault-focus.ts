import { type RefObject, useEffect, useRef } from 'react'

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
