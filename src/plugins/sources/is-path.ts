/** Whether a reference means a file on this machine: anything but `-` and `scheme://…`. */
export function isPath(reference: string): boolean {
  return reference !== '-' && !/^[a-z][a-z0-9+.-]*:\/\//i.test(reference);
}
