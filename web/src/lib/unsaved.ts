/** Of each form of the page, also one in a popover that is closed, whether it holds unsaved input. */
export const forms = new Set<{ current: () => boolean; question: string }>()
export const unsaved = () => [...forms].filter((form) => form.current())
