export function StatusBar() {
  return <footer />;
}
