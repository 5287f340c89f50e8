within;
package Top "all of it"
end Top;
