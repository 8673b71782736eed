/** Sites with one number break and heal together; neighbours have different ones, as they are of one client. */
export const GROUPS = 25

export const targetPath = (group: number): string => `/target/${group}`
export const WEBHOOK_PATH = '/webhook'
